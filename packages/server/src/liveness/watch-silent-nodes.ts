// Nodes whose session nobody holds any more, because the server replica that held it is gone: the owner of the shard gives
// them their time anew and then says what became of them. SAFETY 4e, DECISIONS 5 (Node, Control-plane node).

import type { NodeId } from '@holdfast/contract'
import type { PlacingDeps } from '../loops/controllers/controller.ts'
import { repeat } from '../loops/repeat.ts'
import { nodes, type StoredNode } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import { createFailureDetector, type FailureDetector, type FailureTimes } from './failure-detector.ts'
import type { SilentNode } from './node-health-index.ts'
import { type ReportedStatus, stageStatus, statusAfterSilence } from './node-status.ts'

/** How often it is looked who is silent. */
export const SILENCE_LOOK_MS = 1_000

type WatchDeps = Pick<PlacingDeps, 'store' | 'clock' | 'leadership'>

interface WatchOptions extends WatchDeps {
  /** The id of this process among the server replicas. */
  readonly self: string
  readonly times: FailureTimes
  readonly lookMs: number
  onError(error: unknown): void
}

export interface LivenessWatch {
  /** Many nodes fell silent at once and none is given up for now. */
  readonly holding: boolean
  stop(): Promise<void>
}

export function startLivenessWatch({ self, times, lookMs, onError, ...deps }: WatchOptions): LivenessWatch {
  const { store, leadership } = deps
  const board = createFailureDetector({ store, self, times, lookMs })
  const silent = createSilentNodes({ ...deps, board }, times)
  // Also where a shard was ours before: we may have been away.
  const unfollow = leadership.subscribe(({ gained }) => gained.length > 0 && board.restart(performance.now()))
  const looking = repeat(lookMs, () => silent.look(performance.now()), onError)
  return {
    get holding() {
      return board.holding
    },
    async stop() {
      unfollow()
      await looking.stop()
      board.stop()
    },
  }
}

interface SilentNodesDeps extends WatchDeps {
  readonly board: FailureDetector
}

/** Since when, on our own clock, we see that nobody holds the session. */
interface Orphan {
  readonly epoch: number
  readonly at: number
}

export function createSilentNodes({ store, clock, leadership, board }: SilentNodesDeps, times: FailureTimes) {
  const since = new Map<NodeId, Orphan>()
  const recordOf = ({ tenant, nodeId }: SilentNode) => store.get(inTenant(tenant, nodes, nodeId))?.record
  return {
    async look(now: number): Promise<void> {
      board.look(now)
      const ours = (all: SilentNode[]) => all.filter(({ tenant }) => leadership.owns(tenant))
      const orphans = ours(board.orphans())
      const present = new Set(orphans.map(({ nodeId }) => nodeId))
      for (const id of since.keys()) if (!present.has(id)) since.delete(id)
      const told = await Promise.allSettled([
        ...orphans.map((orphan) => judge(orphan, now)),
        ...ours(board.revived(now)).map((node) => tell(node, recordOf(node), 'ready', now)),
      ])
      // One that fails keeps none of the others waiting; it is judged again at the next turn.
      for (const outcome of told) if (outcome.status === 'rejected') throw outcome.reason
    },
  }

  async function judge(orphan: SilentNode, now: number): Promise<void> {
    const node = recordOf(orphan)
    if (node === undefined || board.isServing(node.id, now)) return
    const known = since.get(node.id)
    const at = known?.epoch === node.session.epoch ? known.at : now
    since.set(node.id, { epoch: node.session.epoch, at })
    const due = statusAfterSilence(node.status, now - Math.max(at, board.countedFrom), times)
    if (due === undefined || (due === 'failed' && !board.mayFail(node.id, now))) return
    // Whoever is silent beside it must be known before anything is given up.
    if (due === 'failed') await store.fresh()
    await tell(orphan, node, due, now)
  }

  async function tell(
    { tenant, nodeId }: SilentNode,
    node: StoredNode | undefined,
    status: ReportedStatus,
    now: number,
  ): Promise<void> {
    await leadership.fenced<void>(tenant, (transaction) => {
      const current = transaction.get(inTenant(tenant, nodes, nodeId))
      // A session that was opened meanwhile, or a holder that came back, speaks for itself.
      const same = current?.session.epoch === node?.session.epoch && current?.status === node?.status
      if (current === undefined || !same || (status === 'failed' && !board.mayFail(nodeId, now)))
        return { kind: 'abort', result: undefined }
      stageStatus(transaction, clock, tenant, current, status, { times, holding: board.holding })
      return { kind: 'commit', result: undefined }
    })
  }
}
