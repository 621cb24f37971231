// Determines whether a transaction whose response was lost has been applied
// (docs/design/store.md#unknown-outcomes). The receipt of the transaction proves that it was. If there
// is no receipt, a cancel mark is written atomically; every transaction compares that its cancel mark
// is absent, so the lost one cannot be applied later. Repeating these steps is safe.

import type { KeyValueEngine } from '../../ports/key-value.ts'
import { encodeRecord } from '../encode.ts'
import type { Keyspace } from '../keys.ts'
import { cancels } from '../records.ts'
import type { StagedTransaction } from '../transaction.ts'
import type { Verdict } from './group-commit.ts'

/**
 * Deadline of one request to settle an outcome. Without a deadline, an etcd follower that has not noticed the loss of its
 * leader would delay the answer much longer.
 */
const ASK_MS = 1_500

export async function settleUnknown(
  engine: KeyValueEngine,
  keyspace: Keyspace,
  staged: StagedTransaction & { readonly receipt: string },
  now: string,
): Promise<Verdict> {
  const mark = encodeRecord(cancels, { v: 1, at: now })
  const { succeeded, revision, results } = await engine.transact(
    {
      compares: [{ key: staged.receipt, target: 'version', is: 'equal', value: 0 }],
      success: [{ kind: 'put', key: keyspace.globalKey(cancels.folder, staged.id), value: mark }],
      failure: [{ kind: 'range', key: staged.receipt }],
    },
    { deadlineMs: ASK_MS },
  )
  if (succeeded) return { kind: 'refused', revision }
  const [found] = results
  const receipt = found?.kind === 'range' ? found.range.kvs[0] : undefined
  return { kind: 'committed', revision: receipt?.modRevision ?? revision }
}
