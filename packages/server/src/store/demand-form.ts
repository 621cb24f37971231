// Raises the form of stored records for a request that needs it (docs/design/store.md#record-forms).

import { FIRST_FORMAT, formatAddress } from './format.ts'
import { serverReplicas } from './records.ts'
import type { Store } from './store.ts'
import { globally } from './transaction.ts'

/**
 * Raises the format to a form that is raised on demand. Returns the servers that cannot read it, in which case nothing
 * changes. A server that registers at the same time conflicts, because both write the format record.
 */
export async function demandForm(
  store: Pick<Store, 'transact' | 'listWithIds' | 'fresh' | 'forms'>,
  v: number,
): Promise<readonly string[]> {
  const older = await store.transact<readonly string[]>((transaction) => {
    const format = transaction.get(formatAddress) ?? FIRST_FORMAT
    const form = store.forms.find((known) => known.v === v)
    if (form === undefined || format.writes >= v) return { kind: 'abort', result: [] }
    const replicas = store.listWithIds(serverReplicas)
    const behind = replicas.filter(
      ({ id }) => (transaction.get(globally(serverReplicas, id))?.reads ?? 1) < v,
    )
    if (behind.length > 0)
      return { kind: 'abort', result: behind.map(({ id, record }) => `${id} (${record.version ?? '0.1.0'})`) }
    transaction.put(formatAddress, { ...format, reads: v, writes: v, by: form.since })
    return { kind: 'commit', result: [] }
  })
  if (older.length === 0) await store.fresh()
  return older
}
