// The content of every file that setup writes: the settings of etcd and the secrets store, and the configurations of the
// server and the broker.

import { type CertificateName, type Layout, layoutBelow, type SetupOptions } from './layout.ts'
import { ROLE_ID } from './step.ts'

const HOST = '127.0.0.1'
/** The size of etcd's database, as in the setting etcd.quotaBytes. */
const QUOTA_BYTES = 2_147_483_648
const OWNED = '# holdfast-server setup owns this file and writes it again when its content differs.'
const EDITABLE =
  '# Written once by holdfast-server setup. Edit it, then restart the unit: setup never changes it.'

/** Environment file of etcd: every flag has a variable. */
export function etcdEnvironment({ root, ports }: SetupOptions): string {
  const layout = layoutBelow(root)
  const { cert, key } = layout.certificate('etcd')
  const [clients, peers] = [`https://${HOST}:${ports.etcd}`, `https://${HOST}:${ports.etcdPeers}`]
  const tls = (prefix: string) => [
    `ETCD_${prefix}CERT_FILE=${cert}`,
    `ETCD_${prefix}KEY_FILE=${key}`,
    `ETCD_${prefix}TRUSTED_CA_FILE=${layout.authority.cert}`,
    `ETCD_${prefix}CLIENT_CERT_AUTH=true`,
  ]
  return lines([
    OWNED,
    'ETCD_NAME=one',
    `ETCD_DATA_DIR=${layout.etcdData}`,
    `ETCD_LISTEN_CLIENT_URLS=${clients}`,
    `ETCD_ADVERTISE_CLIENT_URLS=${clients}`,
    `ETCD_LISTEN_PEER_URLS=${peers}`,
    `ETCD_INITIAL_ADVERTISE_PEER_URLS=${peers}`,
    `ETCD_INITIAL_CLUSTER=one=${peers}`,
    `ETCD_QUOTA_BACKEND_BYTES=${QUOTA_BYTES}`,
    'ETCD_FEATURE_GATES=InitialCorruptCheck=true',
    'ETCD_CORRUPT_CHECK_TIME=1h',
    'ETCD_LOG_LEVEL=warn',
    ...tls(''),
    ...tls('PEER_'),
  ])
}

export function secretsStoreConfig({ root, ports }: SetupOptions): string {
  const layout = layoutBelow(root)
  const { cert, key } = layout.certificate('vault')
  const address = `${HOST}:${ports.secretsStore}`
  const cluster = `${HOST}:${ports.secretsStoreCluster}`
  return lines([
    OWNED,
    'storage "raft" {',
    `  path = "${layout.secretsStoreData}"`,
    '  node_id = "one"',
    '  performance_multiplier = 1',
    '}',
    'listener "tcp" {',
    `  address = "${address}"`,
    `  cluster_address = "${cluster}"`,
    `  tls_cert_file = "${cert}"`,
    `  tls_key_file = "${key}"`,
    '  tls_min_version = "tls13"',
    '}',
    `api_addr = "https://${address}"`,
    `cluster_addr = "https://${cluster}"`,
    'disable_mlock = true',
  ])
}

/** The configuration of the server, which has every role but the broker's and so reads no secret. */
export function serverConfig(options: SetupOptions): string {
  const layout = layoutBelow(options.root)
  const identity = { name: 'api', secretId: layout.apiSecretId } as const
  return configuration(options, layout, { ...serverProcess(options, layout), identity })
}

/** The configuration with which setup itself reaches etcd and the secrets store before identities exist. */
export function setupConfig(options: SetupOptions): string {
  const layout = layoutBelow(options.root)
  return configuration(options, layout, serverProcess(options, layout))
}

const serverProcess = (options: SetupOptions, layout: Layout): Process => ({
  roles: 'api, controllers, gateway',
  listen: { host: '0.0.0.0', port: options.listenPort },
  certificate: 'server',
  client: 'etcd-client-server',
  clusterKey: layout.serverKey,
})

export function brokerConfig(options: SetupOptions): string {
  const layout = layoutBelow(options.root)
  return configuration(options, layout, {
    roles: 'broker',
    listen: { host: HOST, port: options.ports.broker },
    certificate: 'broker',
    client: 'etcd-client-broker',
    clusterKey: layout.brokerKey,
    identity: { name: 'broker', secretId: layout.brokerSecretId },
  })
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

function configuration(
  { publicUrl, ports, registry }: SetupOptions,
  layout: Layout,
  process: Process,
): string {
  const { host, port } = process.listen
  const [own, client] = [layout.certificate(process.certificate), layout.certificate(process.client)]
  const ca = layout.authority.cert
  return lines([
    EDITABLE,
    `roles: [${process.roles}]`,
    `publicUrl: ${publicUrl}`,
    'listen:',
    `  host: ${host}`,
    `  port: ${port}`,
    `  tls: { cert: ${quote(own.cert)}, key: ${quote(own.key)} }`,
    'cluster:',
    `  url: https://${HOST}:${port}`,
    `  keyFile: ${quote(process.clusterKey)}`,
    `  ca: ${quote(ca)}`,
    'etcd:',
    `  endpoints: ["https://${HOST}:${ports.etcd}"]`,
    `  tls: { ca: ${quote(ca)}, cert: ${quote(client.cert)}, key: ${quote(client.key)} }`,
    `  quotaBytes: ${QUOTA_BYTES}`,
    'secretsStore:',
    `  address: https://${HOST}:${ports.secretsStore}`,
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
