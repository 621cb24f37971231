// All steps of a setup on an empty machine, in order. Each step describes a state of the machine, so that a step whose
// state is already reached can be left out.

import { defined } from '@holdfast/contract'
import { certificates, folders, PUBLIC, SECRET, start, write } from './common-steps.ts'
import { brokerConfig, etcdEnvironment, secretsStoreConfig, serverConfig } from './file-contents.ts'
import { addressSettings } from './join/config-settings.ts'
import { joiningSteps } from './join/joining-steps.ts'
import { clusterAddress, etcdPeerUrl, isLoopback, type Network } from './join/network.ts'
import { type Layout, layoutBelow, type SetupOptions, USERS } from './layout.ts'
import type { AddressStep, IdentityStep, SettingsStep, Step, StoreAddressStep } from './step.ts'

const AUTHORITY_DAYS = 3650

export function desiredSteps(options: SetupOptions, network: Network): readonly Step[] {
  const layout = layoutBelow(options.root)
  if (options.joins !== undefined) return joiningSteps(options, layout, network)
  const isAlone = isLoopback(options.address)
  return [
    ...folders(layout),
    { kind: 'authority', ...layout.authority, days: AUTHORITY_DAYS },
    ...certificates(options, layout, 'authority'),
    write(layout.etcdEnvironment, etcdEnvironment(options, network)),
    ...(isAlone ? [] : [storeAddress(options, layout)]),
    write(layout.secretsStoreConfig, secretsStoreConfig(options)),
    {
      kind: 'key',
      files: [
        { path: layout.serverKey, mode: SECRET, owner: USERS.server },
        { path: layout.brokerKey, mode: SECRET, owner: USERS.broker },
      ],
    },
    start('etcd', [layout.etcdEnvironment], layout, ['etcd']),
    ...(isAlone ? [] : [announce(options)]),
    start('secretsStore', [layout.secretsStoreConfig], layout, ['vault']),
    { kind: 'unseal', keyFrom: 'new store' },
    ...identities(options, layout),
    ...(isAlone ? [] : settings(options, layout, network)),
    { kind: 'platform', reissue: false, ...defined({ tenant: options.tenant }) },
    start('broker', [layout.brokerConfig, layout.brokerSecretId, layout.brokerKey], layout, [
      'broker',
      'etcd-client-broker',
    ]),
    start('server', [layout.serverConfig, layout.apiSecretId, layout.serverKey], layout, [
      'server',
      'etcd-client-server',
    ]),
    { kind: 'show' },
  ]
}

function identities(options: SetupOptions, layout: Layout): IdentityStep[] {
  return [
    {
      kind: 'identity',
      identity: 'api',
      secretId: {
        path: layout.apiSecretId,
        earlier: layout.earlierApiSecretId,
        mode: SECRET,
        owner: USERS.server,
      },
      config: { path: layout.serverConfig, mode: PUBLIC, owner: 'root', content: serverConfig(options) },
    },
    {
      kind: 'identity',
      identity: 'broker',
      secretId: {
        path: layout.brokerSecretId,
        earlier: layout.earlierBrokerSecretId,
        mode: SECRET,
        owner: USERS.broker,
      },
      config: { path: layout.brokerConfig, mode: PUBLIC, owner: 'root', content: brokerConfig(options) },
    },
  ]
}

const settings = (options: SetupOptions, layout: Layout, network: Network): SettingsStep[] =>
  (['server', 'broker'] as const).map((service) => ({
    kind: 'settings',
    path: service === 'server' ? layout.serverConfig : layout.brokerConfig,
    mode: PUBLIC,
    owner: 'root',
    settings: addressSettings(service, options, network),
  }))

const announce = (options: SetupOptions): AddressStep => ({
  kind: 'address',
  name: options.name,
  peerUrl: etcdPeerUrl(options),
})

function storeAddress(options: SetupOptions, layout: Layout): StoreAddressStep {
  const member = { id: options.name, address: clusterAddress(options), non_voter: false }
  return {
    kind: 'store address',
    path: layout.secretsStorePeers,
    mode: SECRET,
    owner: USERS.secretsStore,
    content: `${JSON.stringify([member])}\n`,
    config: layout.secretsStoreConfig,
    line: `cluster_addr = "https://${clusterAddress(options)}"`,
  }
}
