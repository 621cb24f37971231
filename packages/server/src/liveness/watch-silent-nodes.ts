// Watches nodes whose session holder, a server replica, is gone. The owner of the shard waits the full silence timeout
// again and then writes the status of these nodes. See docs/design/liveness.md#failure-detection.

import type { NodeId } from '@holdfast/contract'
import type { PlacingDeps } from '../loops/controllers/controller.ts'
import { repeat } from '../loops/repeat.ts'
import { nodes, type StoredNode } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import type { FailureDetector, FailureTimes } from './failure-detector.ts'
import type { SilentNode } from './node-health-index.ts'
import { type ReportedStatus, stageStatus, statusAfterSilence } from './node-status.ts'

export const LIVENESS_CHECK_MS = 1_000

type WatchDeps = Pick<PlacingDeps, 'store' | 'clock' | 'leadership'>

interface SilentNodesDeps extends WatchDeps {
  readonly detector: FailureDetector
}

interface WatchOptions extends SilentNodesDeps {
  readonly times: FailureTimes
  readonly checkMs: number
  onError(error: unknown): void
}

export interface LivenessWatch {
  stop(): Promise<void>
}

export function startLivenessWatch({ times, checkMs, onError, ...deps }: WatchOptions): LivenessWatch {
  const { leadership, detector } = deps
  const silent = createSilentNodes(deps, times)
  // A gained shard restarts the measurement of silence, even if this process lost the shard and gained it again.
  const unsubscribe = leadership.subscribe(
    ({ gained }) => gained.length > 0 && detector.restart(performance.now()),
  )
  const checks = repeat(checkMs, () => silent.check(performance.now()), onError)
  return {
    async stop() {
      unsubscribe()
      await checks.stop()
    },
  }
}

/** A node whose session has no holder, with the time at which this process noticed, on its own clock. */
interface Orphan {
  readonly epoch: number
  readonly at: number
}

export function createSilentNodes(deps: SilentNodesDeps, times: FailureTimes) {
  const { store, clock, leadership, detector } = deps
  const since = new Map<NodeId, Orphan>()
  const recordOf = ({ tenant, nodeId }: SilentNode) => store.get(inTenant(tenant, nodes, nodeId))?.record
  return {
    async check(now: number): Promise<void> {
      detector.check(now)
      const owned = (all: SilentNode[]) => all.filter(({ tenant }) => leadership.owns(tenant))
      const orphans = owned(detector.orphans())
      const present = new Set(orphans.map(({ nodeId }) => nodeId))
      for (const id of since.keys()) if (!present.has(id)) since.delete(id)
      const outcomes = await Promise.allSettled([
        ...orphans.map((orphan) => checkOrphan(orphan, now)),
        ...owned(detector.revived(now)).map((node) => writeStatus(node, recordOf(node), 'ready', now)),
      ])
      // An error of one node is thrown after all nodes are done; the next check retries that node.
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    },
  }

  async function checkOrphan(orphan: SilentNode, now: number): Promise<void> {
    const node = recordOf(orphan)
    if (node === undefined || detector.isServing(node.id, now)) return
    const known = since.get(node.id)
    const at = known?.epoch === node.session.epoch ? known.at : now
    since.set(node.id, { epoch: node.session.epoch, at })
    const due = statusAfterSilence(node.status, now - Math.max(at, detector.countedFrom), times)
    if (due === undefined || (due === 'failed' && !detector.mayFail(node.id, now))) return
    // Before a node is declared failed, the cache must contain the current status of all other nodes.
    if (due === 'failed') await store.fresh()
    await writeStatus(orphan, node, due, now)
  }

  async function writeStatus(
    { tenant, nodeId }: SilentNode,
    node: StoredNode | undefined,
    status: ReportedStatus,
    now: number,
  ): Promise<void> {
    await leadership.fenced<void>(tenant, (transaction) => {
      const current = transaction.get(inTenant(tenant, nodes, nodeId))
      // If the session or status in the node's record has changed, the holder of the session writes the status.
      const same = current?.session.epoch === node?.session.epoch && current?.status === node?.status
      if (current === undefined || !same || (status === 'failed' && !detector.mayFail(nodeId, now)))
        return { kind: 'abort', result: undefined }
      stageStatus(transaction, clock, tenant, current, status, { times, holding: detector.holding })
      return { kind: 'commit', result: undefined }
    })
  }
}
