// A newer server beside the servers under test: whenever one of them writes a record, it checks that no unknown member
// was lost, and adds more. It works on the store alone, so the servers run unchanged.

import { canonicalJson } from '@holdfast/contract'
import type { KeyValueEngine, WatchEvent } from '@holdfast/server/ports/key-value'
import { createKeyspace } from '@holdfast/server/store/keys'
import { chains, formats, serverReplicas, shards } from '@holdfast/server/store/records'
import { waitUntil } from '../wait-until.ts'
import type { Below } from './add-members.ts'
import { createMemberLedger, type MemberLedger } from './member-ledger.ts'

/** Records that are left alone, because a write of another process would end the leadership of the servers. */
const LEFT_ALONE = new Set([chains, formats, serverReplicas, shards].map(({ folder }) => folder))

export interface NewerServer {
  readonly ledger: MemberLedger
  /** Resolves when every record that was written before the call has got members. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

export async function startNewerServer(
  engine: KeyValueEngine,
  root: string,
  below: Below,
): Promise<NewerServer> {
  const keyspace = createKeyspace(root)
  const ledger = createMemberLedger(below, root)
  const { kvs, revision } = await engine.range(keyspace.everything())
  /** The values that this server writes, by key, until the watch delivers them. */
  const own = new Map<string, string>()
  let work: Promise<void> = Promise.resolve()
  let delivered = revision
  const isRecord = (key: string) => !LEFT_ALONE.has(keyspace.parse(key)?.folder ?? '')
  const handle = (event: WatchEvent): void => {
    const { key, value, modRevision } = event.kv
    const write = { key, revision: modRevision, ...(event.kind === 'put' ? { value } : {}) }
    const isOwn = event.kind === 'put' && own.get(key) === textOf(value)
    if (!isRecord(key)) return
    if (event.kind === 'delete' || isOwn) ledger.note(write)
    else {
      ledger.check(write)
      work = work.then(() => addTo(engine, ledger, own, event))
    }
  }
  for (const kv of kvs) handle({ kind: 'put', kv })
  const watch = engine.watch({
    ...keyspace.everything(),
    startRevision: revision + 1,
    onEvents(events, last) {
      for (const event of events) handle(event)
      delivered = last
    },
    onProgress(last) {
      delivered = Math.max(delivered, last)
    },
    onCompacted: () => {},
  })
  return {
    ledger,
    async caughtUp() {
      const now = await engine.range({ key: root, countOnly: true })
      const isDelivered = () => {
        if (delivered < now.revision) watch.requestProgress()
        return delivered >= now.revision
      }
      await waitUntil(isDelivered, { what: 'the newer server sees all writes' })
      await work
    },
    async stop() {
      await work
      watch.close()
    },
  }
}

const textOf = (value: Uint8Array): string => canonicalJson(JSON.parse(Buffer.from(value).toString()))

/** Adds members to a record, unless another server has written it since. */
async function addTo(
  engine: KeyValueEngine,
  ledger: MemberLedger,
  own: Map<string, string>,
  { kv: { key, value, modRevision } }: WatchEvent,
): Promise<void> {
  const marked = ledger.add(key, value)
  if (marked === value) return
  own.set(key, textOf(marked))
  await engine.transact({
    compares: [{ key, target: 'modRevision', is: 'equal', value: modRevision }],
    success: [{ kind: 'put', key, value: marked }],
    failure: [],
  })
}
