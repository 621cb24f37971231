// Where setup puts everything on one machine: paths below the root folder, ports, units and the users that own files.

import { join } from 'node:path'

export interface Ports {
  readonly etcd: number
  readonly etcdPeers: number
  readonly secretsStore: number
  readonly secretsStoreCluster: number
  readonly broker: number
}

export const DEFAULT_PORTS: Ports = {
  etcd: 2379,
  etcdPeers: 2380,
  secretsStore: 8200,
  secretsStoreCluster: 8201,
  broker: 8444,
}

export interface SetupOptions {
  /** Folder that stands for `/`, so that a test can set up a platform below a temporary folder. */
  readonly root: string
  /** Address at which clients reach the API. */
  readonly publicUrl: string
  /** Port on which the server listens on every address. */
  readonly listenPort: number
  /** Folder with the executables `etcd` and `vault`. It is not below `root`. */
  readonly engines: string
  readonly ports: Ports
  /** Name of the tenant that is created together with the platform. */
  readonly tenant?: string
  /** A registry that images may come from, besides Docker Hub. */
  readonly registry?: { readonly host: string; readonly ca?: string }
  /** Name of this machine in etcd and in the secrets store. */
  readonly name: string
  /** Address at which the other machines reach etcd, the secrets store and the broker of this one, or loopback. */
  readonly address: string
  /** The machines that this one joins; absent on the first one. */
  readonly joins?: JoinTarget
}

export interface JoinTarget {
  /** Addresses for clients of etcd. */
  readonly etcd: readonly string[]
  /** Addresses of the secrets store on each machine. */
  readonly secretsStores: readonly string[]
}

export const FIRST_NAME = 'one'
export const LOOPBACK = '127.0.0.1'

export const UNITS = {
  etcd: 'holdfast-etcd.service',
  secretsStore: 'holdfast-vault.service',
  broker: 'holdfast-broker.service',
  server: 'holdfast-server.service',
} as const
export type Service = keyof typeof UNITS
export type Unit = (typeof UNITS)[Service]

/** The user of each unit, whose name is the unit's; the packages create these users. */
export const USERS = {
  etcd: 'holdfast-etcd',
  secretsStore: 'holdfast-vault',
  broker: 'holdfast-broker',
  server: 'holdfast-server',
} as const satisfies { readonly [Name in Service]: string }

/** Certificates besides the authority: the user that reads the key, and what the certificate proves. */
export const CERTIFICATES = {
  etcd: { owner: USERS.etcd, proves: 'both' },
  'etcd-client-server': { owner: USERS.server, proves: 'client' },
  'etcd-client-broker': { owner: USERS.broker, proves: 'client' },
  vault: { owner: USERS.secretsStore, proves: 'server' },
  broker: { owner: USERS.broker, proves: 'server' },
  server: { owner: USERS.server, proves: 'server' },
} as const
export type CertificateName = keyof typeof CERTIFICATES
export const CERTIFICATE_NAMES: readonly CertificateName[] = [
  'etcd',
  'etcd-client-server',
  'etcd-client-broker',
  'vault',
  'broker',
  'server',
]

/** All paths that setup writes. */
export interface Layout {
  readonly config: string
  readonly pki: string
  readonly data: string
  readonly state: string
  readonly authority: { readonly cert: string; readonly key: string }
  certificate(name: CertificateName): { readonly cert: string; readonly key: string }
  readonly etcdEnvironment: string
  readonly etcdData: string
  readonly secretsStoreConfig: string
  readonly secretsStoreData: string
  readonly serverConfig: string
  readonly brokerConfig: string
  readonly serverKey: string
  readonly brokerKey: string
  /** In the state folder of the process, which may replace it there. */
  readonly apiSecretId: string
  readonly brokerSecretId: string
  /** Where earlier versions of setup wrote the two, and where their configurations still name them. */
  readonly earlierApiSecretId: string
  readonly earlierBrokerSecretId: string
  /** The state folders of the server and the broker, as their units name them. */
  readonly serverState: string
  readonly brokerState: string
  /** Read once by a secrets store that is restarted with another address. */
  readonly secretsStorePeers: string
  /** A copy of the invitation with which this machine joined. */
  readonly invitation: string
  /** Credentials that were issued and not yet shown, so that an interrupted setup loses none of them. */
  readonly pending: string
}

export function layoutBelow(root: string): Layout {
  const config = join(root, 'etc/holdfast')
  const data = join(root, 'var/lib/holdfast')
  const pki = join(config, 'pki')
  const serverState = join(root, 'var/lib', USERS.server)
  const brokerState = join(root, 'var/lib', USERS.broker)
  return {
    config,
    pki,
    data,
    state: join(data, 'setup'),
    authority: { cert: join(pki, 'ca.pem'), key: join(pki, 'ca-key.pem') },
    certificate: (name) => ({ cert: join(pki, `${name}.pem`), key: join(pki, `${name}-key.pem`) }),
    etcdEnvironment: join(config, 'etcd.env'),
    etcdData: join(data, 'etcd'),
    secretsStoreConfig: join(config, 'vault.hcl'),
    secretsStoreData: join(data, 'vault'),
    secretsStorePeers: join(data, 'vault/raft/peers.json'),
    invitation: join(data, 'setup/invitation.json'),
    serverConfig: join(config, 'server.yaml'),
    brokerConfig: join(config, 'broker.yaml'),
    serverKey: join(config, 'server-cluster-key'),
    brokerKey: join(config, 'broker-cluster-key'),
    apiSecretId: join(serverState, 'api-secret-id'),
    brokerSecretId: join(brokerState, 'broker-secret-id'),
    earlierApiSecretId: join(config, 'api-secret-id'),
    earlierBrokerSecretId: join(config, 'broker-secret-id'),
    serverState,
    brokerState,
    pending: join(data, 'setup/pending.json'),
  }
}
