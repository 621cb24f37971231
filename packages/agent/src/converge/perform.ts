// One action of the plan, carried out on the engine. Each step may be the last before a crash: whatever is left behind is
// found by its labels in the next list.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'
import {
  containerSettings,
  findItemFault,
  findUnsafeSettings,
  graceSeconds,
  isDanger,
  lowestFreeName,
  type NodeAction,
  type OwnContainer,
  type ResolvedEnvironment,
  readOwnLabels,
  tenantNetwork,
} from '@holdfast/core/node'
import type { ReplicaStatusTable } from '../observe/replica-status-table.ts'
import { type Engine, EngineError, type InspectedContainer, isFault } from '../ports/engine.ts'
import type { Addresses } from '../routing/addresses.ts'
import type { Drain } from '../routing/drain.ts'
import type { Requisites } from './requisites.ts'
import type { TakenNames } from './taken-names.ts'

export interface PerformDeps {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly board: ReplicaStatusTable
  readonly requisites: Requisites
  readonly addresses: Addresses
  /** What is routed to is drained before it stops; does nothing where nothing is routed. */
  readonly drain: Drain
  /** Names that creates under way or of unknown outcome may hold. */
  readonly tried: Map<AssignmentId, string>
  readonly names: TakenNames
  /** May the node make something new for it? */
  mayMake(id: AssignmentId): boolean
  condemn(containerId: string): void
  confirm(id: AssignmentId, containerId: string): void
}

/** A failure with the one word that is reported for it. */
export class ActionError extends Error {
  readonly reason: string
  /** Trying again cannot help. */
  readonly final: boolean
  /** Of a secret that is not to be had: which, and why. */
  readonly about: string

  constructor(reason: string, cause: unknown, { final = false, about = '' } = {}) {
    super(cause instanceof Error ? cause.message : reason, { cause })
    this.name = 'ActionError'
    this.reason = reason
    this.final = final
    this.about = about
  }
}

/** `given`: the environment of a create that needs one. */
export async function perform(
  deps: PerformDeps,
  action: NodeAction,
  given?: ResolvedEnvironment,
): Promise<void> {
  switch (action.kind) {
    case 'create':
      return create(deps, action.item, action.name, given)
    case 'start':
      return startKnown(deps, action.item, action.container)
    case 'stop':
      return stop(deps, action.item, action.container)
    case 'remove':
      return remove(deps, action.assignmentId, action.item, action.containers)
  }
}

async function create(
  deps: PerformDeps,
  item: DesiredItem,
  name: string,
  given: ResolvedEnvironment | undefined,
): Promise<void> {
  await prepare(deps, item)
  const containerId = await failAs('create_failed', createUnderFreeName(deps, item, name, given))
  await start(deps, item, containerId)
}

/** All that a container needs beside its environment. Done again, it is done already. */
export async function prepare(deps: PerformDeps, item: DesiredItem): Promise<void> {
  const { board, requisites } = deps
  const { assignmentId: id, template } = item
  const fault = deps.mayMake(id) ? findItemFault(item) : 'The control plane runs on this node.'
  if (fault !== undefined) throw new ActionError('refused_by_agent', new Error(fault), { final: true })
  const pulling = (): void => board.update(id, { activity: 'pulling' })
  await failAs('image_pull_failed', requisites.ensureImage(template.image, pulling))
  board.update(id, { activity: 'starting' })
  await failAs('network_failed', requisites.ensureNetwork())
}

/** A name that is taken is either ours from before, and then this is our container, or another's, and then the next is tried. */
async function createUnderFreeName(
  deps: PerformDeps,
  item: DesiredItem,
  wanted: string,
  given: ResolvedEnvironment | undefined,
): Promise<string> {
  const { engine, tenant, tried, names, addresses } = deps
  const address = await failAs('network_failed', (async () => addresses.take(item.assignmentId))())
  const body = containerSettings(item, tenant, address, given)
  const unsafe = findUnsafeSettings(body, tenantNetwork(tenant))
  if (unsafe.length > 0)
    throw new ActionError('refused_by_agent', new Error(unsafe.join(', ')), { final: true })
  for (
    let name = wanted;
    ;
    name = lowestFreeName(item.template.name, new Set([...names.all(), ...tried.values()]))
  ) {
    tried.set(item.assignmentId, name)
    const made = await createOnce(deps, item, name, body)
    if (made !== 'taken') {
      names.add(name)
      tried.delete(item.assignmentId)
      return made
    }
    const holder = await engine.inspectContainer(name)
    // The engine also finds a container by the beginning of its id.
    if (holder.name !== name)
      throw new EngineError('conflict', 'The name is held by a container that is not to be seen yet.')
    names.add(name)
    if (readOwnLabels(holder.labels, tenant)?.assignmentId === item.assignmentId) {
      tried.delete(item.assignmentId)
      return adopt(deps, holder)
    }
  }
}

async function createOnce(
  { engine, requisites, tried }: PerformDeps,
  item: DesiredItem,
  name: string,
  body: ReturnType<typeof containerSettings>,
): Promise<string> {
  try {
    return await engine.createContainer(name, body)
  } catch (error) {
    if (isFault(error, 'conflict')) return 'taken'
    if (isFault(error, 'not_found')) requisites.forget(item.template.image)
    // A definite no: nothing holds the name.
    if (isFault(error, 'not_found', 'refused')) tried.delete(item.assignmentId)
    throw error
  }
}

function adopt({ condemn, tenant }: PerformDeps, { id, settings }: InspectedContainer): string {
  if (!findUnsafeSettings(settings, tenantNetwork(tenant)).some(isDanger)) return id
  condemn(id)
  throw new ActionError('unsafe_settings', undefined)
}

/** One from before this start of the agent, or one that was stopped by hand: looked at before it runs. */
async function startKnown(deps: PerformDeps, item: DesiredItem, { id }: OwnContainer): Promise<void> {
  deps.board.update(item.assignmentId, { activity: 'starting' })
  adopt(deps, await deps.engine.inspectContainer(id))
  await failAs('network_failed', deps.requisites.ensureNetwork())
  await start(deps, item, id)
}

async function start(deps: PerformDeps, { assignmentId, template }: DesiredItem, id: string): Promise<void> {
  try {
    await failAs('start_failed', deps.engine.startContainer(id))
  } catch (error) {
    deps.requisites.forget(template.image)
    if (isAddressTaken(error)) await giveAddressUp(deps, id)
    throw error
  } finally {
    deps.confirm(assignmentId, id)
  }
}

/** By another container, which somebody put on the tenant's network: the engine finds that out at the start. */
const isAddressTaken = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('Address already in use')

/** The container cannot have another one: it goes, and the next pass makes it anew. */
async function giveAddressUp({ engine, addresses, names }: PerformDeps, id: string): Promise<void> {
  const { address, name } = await engine.inspectContainer(id)
  if (address !== null) addresses.note(address)
  await engine.removeContainer(id)
  names.drop(name)
}

async function stop(deps: PerformDeps, item: DesiredItem, { id }: OwnContainer): Promise<void> {
  deps.board.update(item.assignmentId, { activity: 'stopping' })
  await drainFirst(deps, id, graceSeconds(item))
  await failAs('stop_failed', deps.engine.stopContainer(id, graceSeconds(item)))
}

/** The grace of an orphan, whose template nobody knows any more: the one that most have. */
const ORPHAN_GRACE_SECONDS = 10

async function remove(
  deps: PerformDeps,
  id: AssignmentId,
  item: DesiredItem | undefined,
  containers: readonly OwnContainer[],
): Promise<void> {
  const { board, addresses } = deps
  if (item?.desired === 'removed') board.update(id, { activity: 'stopping' })
  const grace = item === undefined ? ORPHAN_GRACE_SECONDS : graceSeconds(item)
  for (const container of containers) await failAs('remove_failed', endContainer(deps, container, grace))
  addresses.letGo(id)
  if (item?.desired === 'removed') board.update(id, { container: 'absent' })
}

async function endContainer(deps: PerformDeps, container: OwnContainer, grace: number): Promise<void> {
  const { engine, names } = deps
  const { id, name, state } = container
  try {
    if (state === 'running' || state === 'restarting' || state === 'paused') {
      await drainFirst(deps, id, grace)
      await engine.stopContainer(id, grace)
    }
    await engine.removeContainer(id)
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
  }
  names.drop(name)
}

const drainFirst = ({ drain }: PerformDeps, id: string, grace: number): Promise<void> =>
  drain(id, grace * 1000)

/** No answer of the engine is no verdict on the replica: then it keeps its fault and has no reason. */
async function failAs<T>(reason: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ActionError || isFault(error, 'unavailable', 'timeout')) throw error
    throw new ActionError(reason, error)
  }
}
