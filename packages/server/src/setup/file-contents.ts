// The content of every file that setup writes: the settings of etcd and the secrets store, and the configurations of the
// server and the broker.

import {
  authority,
  clusterAddress,
  etcdPeerUrl,
  etcdUrl,
  type Network,
  secretsStoreUrl,
} from './join/network.ts'
import { type CertificateName, layoutBelow, type SetupOptions } from './layout.ts'
import { ROLE_ID } from './step.ts'

/** The size of etcd's database, as in the setting etcd.quotaBytes. */
const QUOTA_BYTES = 2_147_483_648
export const EVERY_ADDRESS = '0.0.0.0'
const OWNED = '# holdfast-server setup owns this file and writes it again when its content differs.'
const EDITABLE =
  '# Written once by holdfast-server setup. Edit it, then restart the unit. With more than one machine, setup changes the addresses.'

/** Environment file of etcd: every flag has a variable. */
export function etcdEnvironment(options: SetupOptions, { initialCluster }: Network): string {
  const layout = layoutBelow(options.root)
  const { cert, key } = layout.certificate('etcd')
  const [clients, peers] = [etcdUrl(options), etcdPeerUrl(options)]
  const tls = (prefix: string) => [
    `ETCD_${prefix}CERT_FILE=${cert}`,
    `ETCD_${prefix}KEY_FILE=${key}`,
    `ETCD_${prefix}TRUSTED_CA_FILE=${layout.authority.cert}`,
    `ETCD_${prefix}CLIENT_CERT_AUTH=true`,
  ]
  return lines([
    OWNED,
    `ETCD_NAME=${options.name}`,
    `ETCD_DATA_DIR=${layout.etcdData}`,
    `ETCD_LISTEN_CLIENT_URLS=${clients}`,
    `ETCD_ADVERTISE_CLIENT_URLS=${clients}`,
    `ETCD_LISTEN_PEER_URLS=${peers}`,
    `ETCD_INITIAL_ADVERTISE_PEER_URLS=${peers}`,
    `ETCD_INITIAL_CLUSTER=${initialCluster}`,
    ...(options.joins === undefined ? [] : ['ETCD_INITIAL_CLUSTER_STATE=existing']),
    `ETCD_QUOTA_BACKEND_BYTES=${QUOTA_BYTES}`,
    'ETCD_FEATURE_GATES=InitialCorruptCheck=true',
    'ETCD_CORRUPT_CHECK_TIME=1h',
    'ETCD_LOG_LEVEL=warn',
    ...tls(''),
    ...tls('PEER_'),
  ])
}

export function secretsStoreConfig(options: SetupOptions): string {
  const layout = layoutBelow(options.root)
  const { cert, key } = layout.certificate('vault')
  const cluster = clusterAddress(options)
  return lines([
    OWNED,
    'storage "raft" {',
    `  path = "${layout.secretsStoreData}"`,
    `  node_id = "${options.name}"`,
    '  performance_multiplier = 1',
    '}',
    'listener "tcp" {',
    `  address = "${authority(options.address, options.ports.secretsStore)}"`,
    `  cluster_address = "${cluster}"`,
    `  tls_cert_file = "${cert}"`,
    `  tls_key_file = "${key}"`,
    '  tls_min_version = "tls13"',
    '}',
    `api_addr = "${secretsStoreUrl(options)}"`,
    `cluster_addr = "https://${cluster}"`,
    'disable_mlock = true',
  ])
}

/** The configuration of the server, which has every role but the broker's and so reads no secret. */
export const serverConfig = (options: SetupOptions): string =>
  configuration(options, processOf('server', options))

export const brokerConfig = (options: SetupOptions): string =>
  configuration(options, processOf('broker', options))

/** The configuration with which setup itself reaches etcd and the secrets store before identities exist. */
export function setupConfig(options: SetupOptions): string {
  const { identity: _, ...process } = processOf('server', options)
  return configuration(options, process)
}

/** The process of a service: its roles, where it listens, and its files. */
export function processOf(service: 'server' | 'broker', { root, listenPort, address, ports }: SetupOptions) {
  const layout = layoutBelow(root)
  if (service === 'server')
    return {
      roles: 'api, controllers, gateway',
      listen: { host: EVERY_ADDRESS, port: listenPort },
      certificate: 'server',
      client: 'etcd-client-server',
      clusterKey: layout.serverKey,
      identity: { name: 'api', secretId: layout.apiSecretId },
    } as const
  return {
    roles: 'broker',
    listen: { host: address, port: ports.broker },
    certificate: 'broker',
    client: 'etcd-client-broker',
    clusterKey: layout.brokerKey,
    identity: { name: 'broker', secretId: layout.brokerSecretId },
  } as const
}

interface Process {
  readonly roles: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly certificate: CertificateName
  readonly client: CertificateName
  readonly clusterKey: string
  /** Absent while the secrets store has issued no identity. */
  readonly identity?: { readonly name: 'api' | 'broker'; readonly secretId: string }
}

function configuration(options: SetupOptions, process: Process): string {
  const { host, port } = process.listen
  const { registry } = options
  const layout = layoutBelow(options.root)
  const [own, client] = [layout.certificate(process.certificate), layout.certificate(process.client)]
  const ca = layout.authority.cert
  return lines([
    EDITABLE,
    `roles: [${process.roles}]`,
    `publicUrl: ${options.publicUrl}`,
    'listen:',
    `  host: ${host}`,
    `  port: ${port}`,
    `  tls: { cert: ${quote(own.cert)}, key: ${quote(own.key)} }`,
    'cluster:',
    `  url: https://${authority(options.address, port)}`,
    `  keyFile: ${quote(process.clusterKey)}`,
    `  ca: ${quote(ca)}`,
    'etcd:',
    `  endpoints: ["${etcdUrl(options)}"]`,
    `  tls: { ca: ${quote(ca)}, cert: ${quote(client.cert)}, key: ${quote(client.key)} }`,
    `  quotaBytes: ${QUOTA_BYTES}`,
    'secretsStore:',
    `  address: ${secretsStoreUrl(options)}`,
    `  ca: ${quote(ca)}`,
    ...(process.identity === undefined ? [] : identity(process.identity)),
    'registries:',
    '  - host: docker.io',
    '    endpoint: registry-1.docker.io',
    '    tokenRealms: [auth.docker.io]',
    ...(registry === undefined ? [] : ownRegistry(registry)),
  ])
}

/** The operator names the registry, so it may be at a private address. */
const ownRegistry = ({ host, ca }: NonNullable<SetupOptions['registry']>): string[] => [
  `  - host: ${quote(host)}`,
  '    allowAddress: true',
  ...(ca === undefined ? [] : [`    ca: ${quote(ca)}`]),
]

const identity = ({ name, secretId }: { readonly name: string; readonly secretId: string }) => [
  `  ${name}:`,
  `    roleId: "${ROLE_ID}"`,
  `    secretIdFile: ${quote(secretId)}`,
]

/** A path as a double-quoted YAML scalar; JSON texts are such scalars. */
const quote = (text: string): string => JSON.stringify(text)
const lines = (texts: readonly string[]): string => `${texts.join('\n')}\n`
