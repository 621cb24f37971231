// Observes etcd, its records and the secrets store for the doctor, with the connections of the configuration. Every call
// has a deadline.

import { readFileSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { asTenantId, type TenantId } from '@holdfast/contract'
import pino from 'pino'
import type { Config } from '../config/schema.ts'
import { connectEtcd, connectUnsealer, probeSecretsIdentity } from '../connect-engines.ts'
import type { KeyValueEngine } from '../ports/key-value.ts'
import { decodeRecord } from '../store/encode.ts'
import type { StoreEpoch } from '../store/epoch.ts'
import { createKeyspace, type Keyspace, prefixRange } from '../store/keys.ts'
import type { Collection } from '../store/records/collection.ts'
import {
  EPOCH_ID,
  epochs,
  FORMAT_ID,
  formats,
  nodes,
  platform,
  type StoredNode,
  tenants,
} from '../store/records.ts'
import { type Observed, seen, unobserved } from './finding.ts'
import type { EtcdFacts } from './judge-etcd.ts'
import type { RestoreFacts } from './judge-restore.ts'
import type { IdentityProbe, SecretsStoreFacts } from './judge-secrets-store.ts'

const CALL_MS = 5_000
const silent = pino({ level: 'silent' })

/** The last statements of a node's agent. */
export interface StatedAgent extends Pick<StoredNode, 'name' | 'authorities' | 'generation' | 'session'> {
  readonly version: string | undefined
}

export interface StoredFacts {
  readonly etcd: EtcdFacts
  readonly format: Observed<{ readonly writes: number; readonly by: string } | undefined>
  readonly agents: Observed<readonly StatedAgent[]>
  readonly restore: Observed<RestoreFacts>
  readonly platform: Observed<TenantId | undefined>
}

export async function gatherStored(config: Config): Promise<StoredFacts> {
  const engine = connectEtcd(config, silent)
  const keyspace = createKeyspace(config.etcd.root)
  const { endpoints, quotaBytes } = config.etcd
  try {
    const [statuses, format, owner, epoch, fleet] = await Promise.all([
      observe(engine.status({ deadlineMs: CALL_MS })),
      observe(readOne(engine, keyspace.globalKey(formats.folder, FORMAT_ID), formats)),
      observe(readOne(engine, keyspace.globalKey(platform.folder, 'id'), platform)),
      observe(readOne(engine, keyspace.globalKey(epochs.folder, EPOCH_ID), epochs)),
      observe(readNodes(engine, keyspace)),
    ])
    const owned: StoredFacts['platform'] = owner.kind === 'seen' ? seen(owner.value?.tenant) : owner
    const agents = fleet.kind === 'seen' ? seen(fleet.value.nodes.map(statementOf)) : fleet
    const restore = restoreFacts(epoch, fleet)
    return { etcd: { endpoints, quotaBytes, statuses }, format, agents, restore, platform: owned }
  } finally {
    engine.close()
  }
}

const statementOf = (node: StoredNode): StatedAgent => ({ ...node, version: node.agent?.version })

/** Records of another form than this version reads are reported by the check of the format, not by this one. */
async function readOne<T>(engine: KeyValueEngine, key: string, of: Collection<T>): Promise<T | undefined> {
  const { kvs } = await engine.range({ key }, { deadlineMs: CALL_MS })
  const [found] = kvs
  return found === undefined ? undefined : decodeRecord(of, found.value)
}

interface Fleet {
  readonly tenants: readonly TenantId[]
  readonly nodes: readonly StoredNode[]
}

async function readNodes(engine: KeyValueEngine, keyspace: Keyspace): Promise<Fleet> {
  const everyTenant = prefixRange(`${keyspace.root}/g/${tenants.folder}/`)
  const listed = await engine.range({ ...everyTenant, keysOnly: true }, { deadlineMs: CALL_MS })
  const known = listed.kvs.map(({ key }) => asTenantId(keyspace.parse(key)?.id ?? ''))
  const all: StoredNode[] = []
  for (const tenant of known) {
    const found = await engine.range(keyspace.folderOf(tenant, nodes.folder), { deadlineMs: CALL_MS })
    all.push(...found.kvs.map(({ value }) => decodeRecord(nodes, value)))
  }
  return { tenants: known, nodes: all }
}

function restoreFacts(
  epoch: Observed<StoreEpoch | undefined>,
  fleet: Observed<Fleet>,
): Observed<RestoreFacts> {
  if (epoch.kind === 'unobserved') return epoch
  if (fleet.kind === 'unobserved') return fleet
  const { unconfirmed, createdAt, confirmedTenants = [] } = epoch.value ?? {}
  const confirmed = new Set<string>(confirmedTenants)
  return seen({
    unconfirmedSince: unconfirmed === true ? createdAt : undefined,
    unconfirmedTenants: fleet.value.tenants.filter((tenant) => !confirmed.has(tenant)).length,
    holds: fleet.value.nodes.flatMap(({ name, hold }) => (hold ? [{ node: name, reason: hold.reason }] : [])),
  })
}

export async function gatherSecretsStore(
  config: Config,
  owner: StoredFacts['platform'],
): Promise<SecretsStoreFacts> {
  const { address } = config.secretsStore
  const store = connectUnsealer(config)
  try {
    const status = await store.status()
    const identities = new Map<'api' | 'broker', Observed<IdentityProbe>>()
    for (const name of ['api', 'broker'] as const)
      if (config.secretsStore[name] !== undefined)
        identities.set(name, await gatherProbe(config, name, owner))
    const known = status === undefined ? unobserved('no connection, or no valid certificate') : seen(status)
    return { address, status: known, identities }
  } finally {
    store.close()
  }
}

async function gatherProbe(
  config: Config,
  name: 'api' | 'broker',
  owner: StoredFacts['platform'],
): Promise<Observed<IdentityProbe>> {
  if (owner.kind === 'unobserved') return unobserved('the platform is unknown while etcd does not answer')
  if (owner.value === undefined)
    return unobserved('the platform does not exist yet: run holdfast-server init')
  const probed = await probeSecretsIdentity(config, name, owner.value)
  if (probed.kind !== 'unavailable') return seen(probed.kind)
  return probed.cause === 'login_refused' ? seen('refused') : unobserved(`the secrets store: ${probed.cause}`)
}

/** The clock of the secrets store less the clock of this machine, by the Date header of one answer. */
export function gatherSkew({ secretsStore }: Config): Promise<Observed<number>> {
  const url = new URL('/v1/sys/seal-status', secretsStore.address)
  const ca = secretsStore.ca === undefined ? {} : { ca: readFileSync(secretsStore.ca) }
  const signal = AbortSignal.timeout(CALL_MS)
  return new Promise((resolve) => {
    const startedAt = Date.now()
    const call =
      url.protocol === 'https:'
        ? requestSecure(url, { ...ca, signal, agent: false })
        : requestPlain(url, { signal, agent: false })
    call.once('error', () => resolve(unobserved('the secrets store does not answer')))
    call.once('response', (response) => {
      response.resume()
      const date = Date.parse(response.headers.date ?? '')
      const middle = (startedAt + Date.now()) / 2
      // The header has whole seconds, so its time is on average half a second later.
      resolve(Number.isNaN(date) ? unobserved('the answer has no Date header') : seen(date + 500 - middle))
    })
    call.end()
  })
}

const observe = <T>(work: Promise<T>): Promise<Observed<T>> =>
  work.then(seen, (error) => unobserved(error instanceof Error ? error.message : 'unknown error'))
