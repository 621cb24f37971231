// Fenced writes that record their writer and fencing token, and a check of the complete history: each write used the
// token that was valid when the store applied it.

import { asOwner, type TenantId } from '@holdfast/contract'
import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import type { Leadership } from '@holdfast/server/loops/leadership/lead-shards'
import { shardOf } from '@holdfast/server/loops/leadership/shard-of'
import type { KeyValueEngine, Watch } from '@holdfast/server/ports/key-value'
import { decodeRecord } from '@holdfast/server/store/encode'
import { createKeyspace } from '@holdfast/server/store/keys'
import { placements, type StoredPlacement, shards } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { placementAt } from '@holdfast/server/store/transaction'

const OWNER = asOwner('deployment/dep_00000000000000000000000000')

/** Makes one fenced write without any other condition: only an invalid fencing token can make the store reject it. */
export async function writeWitness(
  store: Store,
  leadership: Pick<Leadership, 'fenced'>,
  tenant: TenantId,
  replica: string,
): Promise<void> {
  await leadership.fenced(tenant, (transaction) => {
    const token = store.get(shardAddress(shardOf(tenant)))?.modRevision ?? 0
    transaction.put(placementAt(tenant, OWNER), witness(replica, token))
    return { kind: 'commit', result: undefined }
  })
}

const witness = (replica: string, token: number): StoredPlacement => ({
  v: 1,
  owner: OWNER,
  name: replica,
  revision: token,
  everAssigned: false,
  assignments: [],
  templates: {},
  reportedRefusals: '',
  reportedPhase: '',
})

export interface WitnessLog {
  /** Writers in the order of their writes in the store; consecutive writes of one writer are listed once. */
  readonly writers: readonly string[]
  /** Number of fenced writes by each writer. */
  readonly counts: ReadonlyMap<string, number>
  /** Writes that the store applied although their fencing token was not valid. */
  readonly breaches: readonly string[]
  readonly owner: string | undefined
  close(): void
}

/** Watches the fenced writes from the beginning: call it before any server replica leads. */
export async function watchWitness(
  engine: KeyValueEngine,
  root: string,
  tenant: TenantId,
): Promise<WitnessLog> {
  const keyspace = createKeyspace(root)
  const shardKey = keyspace.globalKey(shards.folder, String(shardOf(tenant)))
  const witnessKey = keyspace.tenantKey(tenant, placements.folder, OWNER)
  const writers: string[] = []
  const counts = new Map<string, number>()
  const breaches: string[] = []
  let inForce = { token: 0, owner: '' }
  const note = ({ name, revision }: StoredPlacement, at: number): void => {
    if (writers.at(-1) !== name) writers.push(name)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (revision !== inForce.token || name !== inForce.owner)
      breaches.push(`${name} with ${revision} at ${at}, in force ${inForce.owner} ${inForce.token}`)
  }
  const { revision } = await engine.range({ ...keyspace.everything(), countOnly: true })
  const watch: Watch = engine.watch({
    ...keyspace.everything(),
    startRevision: revision + 1,
    onEvents(events) {
      for (const { kind, kv } of events) {
        if (kind === 'put' && kv.key === witnessKey) note(decodeRecord(placements, kv.value), kv.modRevision)
        if (kv.key === shardKey)
          inForce = {
            token: kind === 'put' ? kv.modRevision : 0,
            owner: kind === 'put' ? decodeRecord(shards, kv.value).owner : '',
          }
      }
    },
    onProgress: () => {},
    onCompacted: () => breaches.push('the history was compacted'),
  })
  return {
    writers,
    counts,
    breaches,
    get owner() {
      return inForce.owner || undefined
    },
    close: () => watch.close(),
  }
}
