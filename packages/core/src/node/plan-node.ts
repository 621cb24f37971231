// Plans the actions that bring a node's containers to the desired state: one container per assignment. The plan is
// computed from the engine's own list of containers, so an agent that crashed at any point resumes correctly, and a plan
// that was carried out in full is followed by an empty plan. See docs/design/agent.md#convergence.

import { type AssignmentId, type DesiredItem, type Owner, readOwner } from '@holdfast/contract'
import { runsOnce } from './container-mounts.ts'
import { lowestFreeName } from './container-name.ts'

export type ContainerState = 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'

/** A container with Holdfast's labels for this node's tenant. Other containers are never part of a plan. */
export interface OwnContainer {
  readonly id: string
  readonly name: string
  readonly state: ContainerState
  /** Time when the container was created, in seconds since 1970. */
  readonly createdAt: number
  readonly assignmentId: AssignmentId
  readonly generation: number
  /** Undefined if the labels of the container name no owner. */
  readonly owner: Owner | undefined
}

export interface PlanFacts {
  /** Every container name in use on the machine, including containers that Holdfast did not create. */
  readonly names: ReadonlySet<string>
  /**
   * Maps an assignment to the container name of a create that is in progress or has an unknown outcome. A retry uses the
   * same name.
   */
  readonly pendingNames: ReadonlyMap<AssignmentId, string>
  /** Assignments that the plan skips, because an action is in progress or a retry is backing off. */
  readonly skip: ReadonlySet<AssignmentId>
  /**
   * False for an assignment that is known only from disk: an existing container may be started, but a new one is created
   * only after a server has confirmed the assignment.
   */
  mayCreate(id: AssignmentId): boolean
  /** Whether a container of the assignment was started before, on this node. One that runs once is not created again. */
  hasRun(id: AssignmentId): boolean
  /** The id of that container. Undefined if none was started, or its id was not noted. */
  startedContainer(id: AssignmentId): string | undefined
  /** Ids of containers with unsafe settings. The plan removes these containers. */
  readonly unsafe: ReadonlySet<string>
  /** Containers whose assignment is no longer desired, as classified by orphans.ts. */
  readonly orphans: readonly OwnContainer[]
}

export type NodeAction =
  | { readonly kind: 'create'; readonly item: DesiredItem; readonly name: string }
  | { readonly kind: 'start'; readonly item: DesiredItem; readonly container: OwnContainer }
  | { readonly kind: 'stop'; readonly item: DesiredItem; readonly container: OwnContainer }
  | {
      readonly kind: 'remove'
      readonly assignmentId: AssignmentId
      /** The desired item that the action is for. Absent for an orphaned container. */
      readonly item?: DesiredItem
      readonly containers: readonly OwnContainer[]
    }

export function planNode(
  desired: readonly DesiredItem[],
  containers: readonly OwnContainer[],
  facts: PlanFacts,
): NodeAction[] {
  const held = Map.groupBy(containers, ({ assignmentId }) => assignmentId)
  // The rules for an owner of a kind that this agent does not know are unknown, so its containers stay as they are.
  const items = desired.filter(
    ({ assignmentId, owner }) => !facts.skip.has(assignmentId) && readOwner(owner) !== undefined,
  )
  const kept = items.flatMap((item) => planItem(item, held.get(item.assignmentId) ?? [], facts))
  const absent = items.filter((item) => item.desired === 'running' && !held.has(item.assignmentId))
  const creatable = absent.filter(
    ({ assignmentId, template }) =>
      facts.mayCreate(assignmentId) && !(runsOnce(template) && facts.hasRun(assignmentId)),
  )
  return [...kept, ...planOrphans(facts), ...planCreates(creatable, facts)]
}

function planItem(item: DesiredItem, all: readonly OwnContainer[], facts: PlanFacts): NodeAction[] {
  const removal = (containers: readonly OwnContainer[]): NodeAction[] => {
    const present = containers.filter(({ state }) => state !== 'removing')
    return present.length === 0
      ? []
      : [{ kind: 'remove', assignmentId: item.assignmentId, item, containers: present }]
  }
  if (item.desired === 'removed') return removal(all)
  const isUnusable = (one: OwnContainer): boolean => isBroken(one, facts) || isSecondRun(item, one, facts)
  const [container, ...surplus] = all.filter((one) => !isUnusable(one)).toSorted(byPreference(item))
  const unusable = all.filter(isUnusable)
  // Removals come first, so that the next plan sees at most one container for each assignment.
  if (surplus.length + unusable.length > 0) return removal([...surplus, ...unusable])
  if (container === undefined) return []
  if (item.desired === 'stopped') return isUp(container) ? [{ kind: 'stop', item, container }] : []
  return mayStart(item, container) ? [{ kind: 'start', item, container }] : []
}

/** A container that runs once is started only if it was never started before. */
const mayStart = ({ template }: DesiredItem, container: OwnContainer): boolean =>
  runsOnce(template) ? container.state === 'created' : isDown(container)

/** A container that would run a job again whose container is another one, even if that one is gone. */
const isSecondRun = (
  { template }: DesiredItem,
  { id, state, assignmentId }: OwnContainer,
  facts: PlanFacts,
) => runsOnce(template) && state === 'created' && (facts.startedContainer(assignmentId) ?? id) !== id

const isBroken = ({ id, state }: OwnContainer, { unsafe }: PlanFacts): boolean =>
  state === 'dead' || unsafe.has(id)
const isUp = ({ state }: OwnContainer): boolean => ['running', 'paused', 'restarting'].includes(state)
const isDown = ({ state }: OwnContainer): boolean => state === 'created' || state === 'exited'

/**
 * Sorts the containers of one assignment by which to keep: a running container first, then the oldest. Of one that runs
 * once, a container that has run comes before one that could still be started.
 */
const byPreference =
  ({ template }: DesiredItem) =>
  (a: OwnContainer, b: OwnContainer): number => {
    if (isUp(a) !== isUp(b)) return isUp(a) ? -1 : 1
    const isNew = (one: OwnContainer): boolean => runsOnce(template) && one.state === 'created'
    if (isNew(a) !== isNew(b)) return isNew(a) ? 1 : -1
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

/** Container names are assigned in the order of assignment ids, so that a repeated plan assigns the same names. */
function planCreates(items: readonly DesiredItem[], { names, pendingNames }: PlanFacts): NodeAction[] {
  const taken = new Set([...names, ...pendingNames.values()])
  const inOrder = items.toSorted((a, b) => (a.assignmentId < b.assignmentId ? -1 : 1))
  return inOrder.map((item) => {
    const before = pendingNames.get(item.assignmentId)
    if (before !== undefined && !names.has(before)) return { kind: 'create', item, name: before }
    const name = lowestFreeName(item.template.name, taken)
    taken.add(name)
    return { kind: 'create', item, name }
  })
}
