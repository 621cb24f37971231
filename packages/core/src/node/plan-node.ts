// What a node has to do so that its engine holds what is wished: one container per assignment and nothing else of ours.
// Docker is the journal: the plan is made from what the engine lists, so an agent that died anywhere goes on from there.
// Carried out in full, the next plan is empty. Containers without our labels are not in its input. SAFETY 4e and 4h.

import type { AssignmentId, DesiredItem } from '@holdfast/contract'
import { lowestFreeName } from './container-name.ts'

export type ContainerState = 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'

/** A container with our labels, of this tenant. */
export interface OwnContainer {
  readonly id: string
  readonly name: string
  readonly state: ContainerState
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly assignmentId: AssignmentId
  readonly generation: number
}

export interface PlanFacts {
  /** Names that are taken on the machine, by whomever. */
  readonly names: ReadonlySet<string>
  /** Names that a create under way, or of unknown outcome, may hold: the same assignment tries the same name again. */
  readonly tried: ReadonlyMap<AssignmentId, string>
  /** Being worked on since before the list was made, or waiting for their next try. */
  readonly skip: ReadonlySet<AssignmentId>
  /** False for what is only kept on disk and was not named by a server since: it is started, never made. */
  mayCreate(id: AssignmentId): boolean
  /** Containers outside the safe set. */
  readonly condemned: ReadonlySet<string>
  /** Containers of assignments that nobody wishes (orphans.ts). */
  readonly orphans: readonly OwnContainer[]
}

export type NodeAction =
  | { readonly kind: 'create'; readonly item: DesiredItem; readonly name: string }
  | { readonly kind: 'start'; readonly item: DesiredItem; readonly container: OwnContainer }
  | { readonly kind: 'stop'; readonly item: DesiredItem; readonly container: OwnContainer }
  | {
      readonly kind: 'remove'
      readonly assignmentId: AssignmentId
      /** Absent for an orphan. */
      readonly item?: DesiredItem
      readonly containers: readonly OwnContainer[]
    }

export function planNode(
  desired: readonly DesiredItem[],
  containers: readonly OwnContainer[],
  facts: PlanFacts,
): NodeAction[] {
  const held = Map.groupBy(containers, ({ assignmentId }) => assignmentId)
  const items = desired.filter(({ assignmentId }) => !facts.skip.has(assignmentId))
  const kept = items.flatMap((item) => planItem(item, held.get(item.assignmentId) ?? [], facts))
  const absent = items.filter((item) => item.desired === 'running' && !held.has(item.assignmentId))
  const wished = absent.filter(({ assignmentId }) => facts.mayCreate(assignmentId))
  return [...kept, ...planOrphans(facts), ...planCreates(wished, facts)]
}

function planItem(item: DesiredItem, all: readonly OwnContainer[], facts: PlanFacts): NodeAction[] {
  const ending = (containers: readonly OwnContainer[]): NodeAction[] => {
    const present = containers.filter(({ state }) => state !== 'removing')
    return present.length === 0
      ? []
      : [{ kind: 'remove', assignmentId: item.assignmentId, item, containers: present }]
  }
  if (item.desired === 'removed') return ending(all)
  const [container, ...surplus] = all.filter((one) => !isLost(one, facts)).toSorted(byClaim)
  const lost = all.filter((one) => isLost(one, facts))
  // What must go, goes first: the next plan sees one container.
  if (surplus.length + lost.length > 0) return ending([...surplus, ...lost])
  if (container === undefined) return []
  if (item.desired === 'stopped') return isUp(container) ? [{ kind: 'stop', item, container }] : []
  return isDown(container) ? [{ kind: 'start', item, container }] : []
}

const isLost = ({ id, state }: OwnContainer, { condemned }: PlanFacts): boolean =>
  state === 'dead' || condemned.has(id)
const isUp = ({ state }: OwnContainer): boolean => ['running', 'paused', 'restarting'].includes(state)
const isDown = ({ state }: OwnContainer): boolean => state === 'created' || state === 'exited'

/** Of several for one assignment the one that runs stays, then the oldest. */
function byClaim(a: OwnContainer, b: OwnContainer): number {
  if (isUp(a) !== isUp(b)) return isUp(a) ? -1 : 1
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

function planOrphans({ orphans, skip }: PlanFacts): NodeAction[] {
  const groups = Map.groupBy(orphans, ({ assignmentId }) => assignmentId)
  return [...groups].flatMap(([assignmentId, containers]) => {
    const present = containers.filter(({ state }) => state !== 'removing')
    return skip.has(assignmentId) || present.length === 0
      ? []
      : [{ kind: 'remove' as const, assignmentId, containers: present }]
  })
}

/** In the order of their ids, so that a plan made again gives the same names. */
function planCreates(items: readonly DesiredItem[], { names, tried }: PlanFacts): NodeAction[] {
  const taken = new Set([...names, ...tried.values()])
  const inOrder = items.toSorted((a, b) => (a.assignmentId < b.assignmentId ? -1 : 1))
  return inOrder.map((item) => {
    const before = tried.get(item.assignmentId)
    if (before !== undefined && !names.has(before)) return { kind: 'create', item, name: before }
    const name = lowestFreeName(item.template.name, taken)
    taken.add(name)
    return { kind: 'create', item, name }
  })
}
