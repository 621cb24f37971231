// Commits a prepared transaction through group commit. If the response is lost, determines whether the transaction was
// applied (docs/design/store.md#unknown-outcomes).

import { type Clock, timestamp } from '../../ports/clock.ts'
import { EngineError, type KeyValueEngine } from '../../ports/key-value.ts'
import type { Keyspace } from '../keys.ts'
import { retryUntil } from '../retry-until.ts'
import type { StagedTransaction } from '../transaction.ts'
import { asUnavailable } from '../unavailable.ts'
import { createGroupCommit, type GroupCommitOptions, type Verdict } from './group-commit.ts'
import { settleUnknown } from './settle-unknown.ts'

export interface Committer {
  /** Commits the transaction. Throws StoreUnavailableError if nothing was written or the outcome is unknown. */
  commit(staged: StagedTransaction, until: number): Promise<Verdict>
}

export interface CommitterDeps {
  readonly engine: KeyValueEngine
  readonly clock: Clock
  readonly keyspace: Keyspace
  readonly groupCommit?: Partial<GroupCommitOptions>
  /** How many milliseconds, after the transaction's own deadline, may be spent on settling an unknown outcome. */
  readonly settleMs: number
}

export function createCommitter(deps: CommitterDeps): Committer {
  const { engine, clock, keyspace, groupCommit, settleMs } = deps
  const group = createGroupCommit(engine, groupCommit)
  const settle = async (staged: StagedTransaction, lost: EngineError): Promise<Verdict> => {
    const { receipt } = staged
    if (receipt === undefined) throw lost
    const ask = () => settleUnknown(engine, keyspace, { ...staged, receipt }, timestamp(clock))
    return retryUntil(ask, performance.now() + settleMs, 'repeatable')
  }
  return {
    async commit(staged, until) {
      try {
        return await retryUntil(() => group.submit(staged, until), until, 'once')
      } catch (error) {
        if (!(error instanceof EngineError) || error.applied === 'no') return asUnavailable(error)
        return settle(staged, error).catch(asUnavailable)
      }
    },
  }
}
