// All steps of a setup on an empty machine that joins a platform, in order. Each step describes a state of the machine.

import { certificates, folders, PUBLIC, SECRET, start, write } from '../common-steps.ts'
import { etcdEnvironment, secretsStoreConfig } from '../file-contents.ts'
import { type Layout, type SetupOptions, USERS } from '../layout.ts'
import type { DeliverStep, SettingsStep, Step } from '../step.ts'
import { addressSettings, fileSettings } from './config-settings.ts'
import { etcdPeerUrl, type Network } from './network.ts'

export function joiningSteps(options: SetupOptions, layout: Layout, network: Network): readonly Step[] {
  const peerUrl = etcdPeerUrl(options)
  const [server, broker] = [
    configure('server', options, layout, network),
    configure('broker', options, layout, network),
  ]
  return [
    ...folders(layout),
    deliver('invitation', layout.invitation, 'root'),
    deliver('ca', layout.authority.cert, 'root', PUBLIC),
    ...certificates(options, layout, 'invitation'),
    deliver('cluster-key', layout.serverKey, USERS.server),
    deliver('cluster-key', layout.brokerKey, USERS.broker),
    { ...deliver('api-secret-id', layout.apiSecretId, USERS.server), earlier: layout.earlierApiSecretId },
    {
      ...deliver('broker-secret-id', layout.brokerSecretId, USERS.broker),
      earlier: layout.earlierBrokerSecretId,
    },
    { kind: 'member', peerUrl },
    write(layout.etcdEnvironment, etcdEnvironment(options, network)),
    write(layout.secretsStoreConfig, secretsStoreConfig(options)),
    start('etcd', [layout.etcdEnvironment], layout, ['etcd']),
    { kind: 'promote', peerUrl },
    start('secretsStore', [layout.secretsStoreConfig], layout, ['vault']),
    { kind: 'unseal', keyFrom: 'joining store' },
    server,
    broker,
    start('broker', [broker.path, layout.brokerSecretId, layout.brokerKey], layout, [
      'broker',
      'etcd-client-broker',
    ]),
    start('server', [server.path, layout.apiSecretId, layout.serverKey], layout, [
      'server',
      'etcd-client-server',
    ]),
    { kind: 'voter', name: options.name },
  ]
}

const deliver = (item: DeliverStep['item'], path: string, owner: string, mode = SECRET): DeliverStep => ({
  kind: 'deliver',
  item,
  path,
  owner,
  mode,
})

const configure = (
  service: 'server' | 'broker',
  options: SetupOptions,
  layout: Layout,
  network: Network,
): SettingsStep => ({
  kind: 'settings',
  path: service === 'server' ? layout.serverConfig : layout.brokerConfig,
  mode: PUBLIC,
  owner: 'root',
  base: { item: `${service}.yaml`, settings: fileSettings(service, options) },
  settings: addressSettings(service, options, network),
})
