// Builds the adapters of one process from its configuration: etcd, the two identities in the secrets store, the
// registries. Apart from tests, only this file and set-up-secrets-store.ts import adapters.

import { readFileSync } from 'node:fs'
import { defined, type TenantId } from '@holdfast/contract'
import type { Logger } from 'pino'
import { countAccepting } from './adapters/etcd/count-accepting.ts'
import { createEtcdClient } from './adapters/etcd/create-etcd-client.ts'
import { createMemberClient } from './adapters/etcd/create-member-client.ts'
import { createMaintenance } from './adapters/etcd/maintenance/create-maintenance.ts'
import { createRegistryClient } from './adapters/registry/registry-client.ts'
import { type IdentityProbed, probeIdentity } from './adapters/secrets-store/probe-identity.ts'
import { type IdentityName, roleOfIdentity } from './adapters/secrets-store/provision-platform.ts'
import { readStoreMembers } from './adapters/secrets-store/read-members.ts'
import { destroySecretId, issueSecretId, lookUpSecretId } from './adapters/secrets-store/secret-ids.ts'
import { createSecretsReader } from './adapters/secrets-store/secrets-reader.ts'
import {
  createSecretsStoreClient,
  type SecretsStoreClient,
} from './adapters/secrets-store/secrets-store-client.ts'
import { createSecretsWriter } from './adapters/secrets-store/secrets-writer.ts'
import { answersStore, openAddress } from './adapters/secrets-store/store-call.ts'
import type { StoreAuth } from './adapters/secrets-store/store-session.ts'
import { createStoreUnsealer } from './adapters/secrets-store/unseal-store.ts'
import { certificateFiles, expiryOf } from './config/certificate-files.ts'
import type { Config } from './config/schema.ts'
import type { CertificatePair } from './net/certificate-chain.ts'
import type { ClientTls, CurrentTls } from './ports/client-tls.ts'
import type { EngineMaintenance } from './ports/engine-maintenance.ts'
import type { EtcdMembers } from './ports/etcd-members.ts'
import type { KeyValueEngine } from './ports/key-value.ts'
import type { Registry, RegistryEntry } from './ports/registry.ts'
import type { Secret } from './ports/secret.ts'
import type { SecretIdCalls } from './ports/secret-ids.ts'
import type { SecretsReader, SecretsWriter } from './ports/secrets-store.ts'
import type { StoreMembersRead } from './ports/store-members.ts'
import type { StoreUnsealer } from './ports/store-unsealer.ts'

const pem = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : readFileSync(path, 'utf8')

/** The certificates for etcd as their files are now. Throws if one is unreadable. */
export const readEtcdTls = ({ etcd: { tls } }: Config): ClientTls =>
  defined({ ca: pem(tls?.ca), cert: pem(tls?.cert), key: pem(tls?.key) })

/** The authorities of the secrets store as their file is now. Throws if it is unreadable. */
export const readSecretsStoreTls = ({ secretsStore }: Config): ClientTls =>
  defined({ ca: pem(secretsStore.ca) })

/** The number of etcd members that answer a new connection with these certificates. */
export const countEtcdAccepting = ({ etcd }: Config, tls: ClientTls): Promise<number> =>
  countAccepting(etcd.endpoints, tls)

/** 1 if the secrets store answers a new connection with these authorities, otherwise 0. */
export const countStoreAccepting = async ({ secretsStore }: Config, tls: ClientTls): Promise<number> =>
  (await answersStore(openAddress(secretsStore.address, secretsStore.namespace, () => tls))) ? 1 : 0

/** The certificates that a process read when it connected: commands end before a renewal matters. */
function readOnce(read: () => ClientTls): CurrentTls {
  const tls = read()
  return () => tls
}

const etcdOptions = (config: Config, current?: CurrentTls) => {
  const { endpoints, tls, username, password } = config.etcd
  const own = tls && (current ?? readOnce(() => readEtcdTls(config)))
  return { endpoints, ...defined({ tls: own, username, password }) }
}

/** `tls`: the certificates that follow their files; by default they are read once. */
export const connectEtcd = (config: Config, log: Logger, tls?: CurrentTls): KeyValueEngine =>
  createEtcdClient({ ...etcdOptions(config, tls), log })

/** Connects to the membership of etcd. */
export const connectMembers = (config: Config): EtcdMembers => createMemberClient(etcdOptions(config))

/** Connects to the maintenance of etcd. */
export const connectMaintenance = (config: Config, tls?: CurrentTls): EngineMaintenance =>
  createMaintenance(etcdOptions(config, tls))

/** Connects to the membership with certificates as texts: a machine that joins has no configuration yet. */
export const connectMembersAt = (endpoints: readonly string[], tls: ClientTls): EtcdMembers =>
  createMemberClient({ endpoints, tls: () => tls })

function connectSecretsStore(config: Config, auth: StoreAuth, current?: CurrentTls): SecretsStoreClient {
  const { address, namespace } = config.secretsStore
  const tls = current ?? readOnce(() => readSecretsStoreTls(config))
  return createSecretsStoreClient({ address, auth, tls, ...defined({ namespace }) })
}

/** Connects to the secrets store with an operator's own token, which may write policies. */
export const connectOperator = (config: Config, token: Secret): SecretsStoreClient =>
  connectSecretsStore(config, { token })

/** Connects to the secrets store without an identity, to initialize or unseal it. */
export function connectUnsealer(config: Config): StoreUnsealer {
  const { address, namespace } = config.secretsStore
  return createStoreUnsealer(
    openAddress(
      address,
      namespace,
      readOnce(() => readSecretsStoreTls(config)),
    ),
  )
}

export function connectSecretsWriter(config: Config, tls?: CurrentTls): SecretsWriter {
  const client = connectSecretsStore(config, required(config.secretsStore.api, 'secretsStore.api'), tls)
  return createSecretsWriter({ client, namespaces: config.secrets.namespaces })
}

/** Logs in as an identity of the configuration and checks that it has its policy. */
export async function probeSecretsIdentity(
  config: Config,
  name: 'api' | 'broker',
  tenant: TenantId,
): Promise<IdentityProbed> {
  const client = connectSecretsStore(config, required(config.secretsStore[name], `secretsStore.${name}`))
  try {
    return await probeIdentity(client, name, tenant)
  } finally {
    client.close()
  }
}

/** Logs in with a secret id of an identity, works with it, and ends the login. */
export async function withSecretId<T>(
  config: Config,
  name: IdentityName,
  secretId: Secret,
  work: (calls: SecretIdCalls) => Promise<T>,
): Promise<T> {
  const { roleId } = required(config.secretsStore[name], `secretsStore.${name}`)
  const client = connectSecretsStore(config, { roleId, secretId })
  const role = roleOfIdentity(name)
  try {
    return await work({
      lookUp: (of) => client.within((signal) => lookUpSecretId(client, role, of, signal)),
      issue: () => client.within((signal) => issueSecretId(client, role, 'process', signal)),
      destroy: (of) => client.within((signal) => destroySecretId(client, role, of, signal)),
    })
  } finally {
    // Without a login there is no token, and a call would only try to log in once more.
    if (client.logins() > 0)
      await client.within((signal) => client.call({ method: 'POST', path: 'auth/token/revoke-self', signal }))
    client.close()
  }
}

/** Reads the members of the secrets store with the identity of the API. */
export async function readSecretsMembers(config: Config): Promise<StoreMembersRead> {
  const client = connectSecretsStore(config, required(config.secretsStore.api, 'secretsStore.api'))
  try {
    return await readStoreMembers(client)
  } finally {
    client.close()
  }
}

export function connectSecretsReader(config: Config, tls?: CurrentTls): SecretsReader {
  const client = connectSecretsStore(config, required(config.secretsStore.broker, 'secretsStore.broker'), tls)
  return createSecretsReader({ client, namespaces: config.secrets.namespaces })
}

export function connectRegistries({ registries }: Config): Registry {
  const allowList = registries.map(
    ({ ca, ...entry }): RegistryEntry => ({ ...entry, ...defined({ ca: pem(ca) }) }),
  )
  return createRegistryClient({ allowList })
}

/** Returns the certificate that this process presents, or undefined for plain HTTP. */
export function readServerTls({ listen }: Pick<Config, 'listen'>): CertificatePair | undefined {
  const { tls } = listen
  const [cert, key, roots, next] = [pem(tls?.cert), pem(tls?.key), pem(tls?.ca), pem(tls?.nextCa)]
  return cert === undefined || key === undefined ? undefined : { cert, key, roots, next }
}

/** The expiry of each readable certificate file, in seconds since 1970. */
export function readExpiries(config: Config): ReadonlyMap<string, number> {
  return new Map(
    certificateFiles(config).flatMap((path) => {
      try {
        return [[path, Math.floor(expiryOf(readFileSync(path)) / 1000)] as const]
      } catch {
        return []
      }
    }),
  )
}

/** Returns the authority that signs certificates of other server replicas; undefined means the system's trust store. */
export const readClusterCa = ({ cluster }: Config): string | undefined => pem(cluster?.ca)

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new TypeError(`${name} is not configured`)
  return value
}
