// The desired set on its way to a node: all of it at first and again each minute, in between what changed. SAFETY 4e.

import { type AssignmentId, type DesiredItem, type NodeId, splitTemplates } from '@holdfast/contract'
import type { NodeAddress, Running } from './deps.ts'
import { type DesiredIndex, itemOf, type Wish } from './desired-index.ts'
import { guardSession } from './guard-session.ts'
import type { GatewayParts } from './parts.ts'
import { type Session, send } from './session.ts'

/**
 * All that is wished of the node. Where not all of it can be read it is sent as a change, which takes nothing away:
 * what could not be seen must not look as if it were not wished.
 */
export function sendComplete({ store, counts, log }: Running, index: DesiredIndex, session: Session): void {
  const wishes = index.wishesOf(session)
  const items = wishes.map(itemOf).filter((item) => item !== undefined)
  const set = { session: session.epoch, revision: store.revision, ...splitTemplates(items) }
  if (items.length === wishes.length && index.isWhole(session.tenant)) {
    if (send(session.socket, { type: 'complete', ...set })) counts.completes += 1
    return
  }
  log.warn({ nodeId: session.nodeId }, 'a placement cannot be read: the node is sent no complete set')
  if (send(session.socket, { type: 'delta', ...set, gone: [] })) counts.deltas += 1
}

export interface Deltas {
  note(node: NodeAddress, assignmentId: AssignmentId): void
  close(): void
}

/** Changes of one turn of the event loop go out together. */
export function createDeltas(parts: GatewayParts): Deltas {
  const { running, index, held } = parts
  const dirty = new Map<NodeId, Set<AssignmentId>>()
  let planned: NodeJS.Immediate | undefined
  const flush = (): void => {
    planned = undefined
    for (const [nodeId, ids] of dirty) {
      const session = held.all.get(nodeId)
      if (session?.socket !== undefined)
        guardSession(parts, session, () => sendDelta(running, index, session, ids))
    }
    dirty.clear()
  }
  return {
    note({ tenant, nodeId }, assignmentId) {
      if (held.all.get(nodeId)?.tenant !== tenant) return
      const ids = dirty.get(nodeId) ?? new Set<AssignmentId>()
      dirty.set(nodeId, ids.add(assignmentId))
      planned ??= setImmediate(flush)
    },
    close: () => clearImmediate(planned),
  }
}

function sendDelta(
  { store, counts }: Running,
  index: DesiredIndex,
  session: Session,
  ids: ReadonlySet<AssignmentId>,
): void {
  const items: DesiredItem[] = []
  const gone: string[] = []
  for (const id of ids) {
    const wish: Wish | undefined = index.wishOf(session, id)
    const item = wish && itemOf(wish)
    if (item !== undefined) items.push(item)
    if (wish !== undefined) continue
    gone.push(id)
    session.reports?.newest.delete(id)
    session.reports?.unwritten.delete(id)
  }
  const delta = { session: session.epoch, revision: store.revision, ...splitTemplates(items), gone }
  if (send(session.socket, { type: 'delta', ...delta })) counts.deltas += 1
}
