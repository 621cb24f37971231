// Carries out one action of the plan on the engine. The agent may crash after any step: the next list of containers
// finds, by its labels, a container that was left behind.

import { type AssignmentId, type DesiredItem, lackedCapabilities, type TenantId } from '@holdfast/contract'
import {
  AGENT_VERSION,
  ASSIGNMENT_LABEL,
  containerNetworks,
  containerSettings,
  findDangers,
  findItemFault,
  findUnsafeSettings,
  graceSeconds,
  lowestFreeName,
  type NodeAction,
  needsEnvironment,
  type OwnContainer,
  ownParts,
  type PlacedMounts,
  type ResolvedEnvironment,
  readOwnLabels,
  runsOnce,
} from '@holdfast/core/node'
import { attachContainer } from '../networks/attach.ts'
import type { NetworkKeeper } from '../networks/keep-networks.ts'
import type { FailedLogs } from '../observe/keep-failed-logs.ts'
import { redact, secretValues } from '../observe/redact.ts'
import type { ReplicaStatusTable } from '../observe/replica-status-table.ts'
import { type Engine, EngineError, type InspectedContainer, isFault, MAX_MESSAGE } from '../ports/engine.ts'
import type { Addresses } from '../routing/addresses.ts'
import type { Drain } from '../routing/drain.ts'
import type { StartNotes } from '../state/start-notes.ts'
import { ActionError, failAs } from './action-error.ts'
import type { Requisites } from './requisites.ts'
import type { TakenNames } from './taken-names.ts'
import type { VolumeMounts } from './volume-mounts.ts'

export interface PerformDeps {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly statuses: ReplicaStatusTable
  readonly requisites: Requisites
  readonly networks: Pick<NetworkKeeper, 'ensure' | 'forget'>
  readonly addresses: Addresses
  readonly volumes: VolumeMounts
  /** Drains a routed container before it stops; does nothing on a node without a router. */
  readonly drain: Drain
  /** Container names of creates that are in progress or have an unknown outcome. */
  readonly pendingNames: Map<AssignmentId, string>
  readonly names: TakenNames
  /** Whether this node may create containers for the assignment. */
  mayCreate(item: DesiredItem): boolean
  /** The capabilities of this agent. */
  readonly capabilities: readonly string[]
  readonly failedLogs: Pick<FailedLogs, 'beforeRemoval'>
  readonly startNotes: Pick<StartNotes, 'note' | 'forget'>
  markUnsafe(containerId: string): void
  confirm(id: AssignmentId, containerId: string): void
}

/** Performs an action. `environment`: the variables for the create of a container with secrets. */
export async function perform(
  deps: PerformDeps,
  action: NodeAction,
  environment?: ResolvedEnvironment,
): Promise<void> {
  switch (action.kind) {
    case 'create':
      return create(deps, action.item, action.name, environment)
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
  environment: ResolvedEnvironment | undefined,
): Promise<void> {
  await prepare(deps, item)
  await deps.volumes.holding(item, async (isFirst) => {
    const placed = await failAs('create_failed', deps.volumes.prepare(item, isFirst))
    const created = createUnderFreeName(deps, item, { name, environment, placed })
    await start(deps, item, await failAs('create_failed', created))
  })
}

interface Creation {
  readonly name: string
  readonly environment: ResolvedEnvironment | undefined
  readonly placed: PlacedMounts
}

/** Checks the desired item and its volumes, and ensures its image and its networks. Safe to repeat. */
export async function prepare(deps: PerformDeps, item: DesiredItem): Promise<void> {
  const { statuses, requisites } = deps
  const { assignmentId: id, template } = item
  requireCapabilities(deps, item)
  const fault = deps.mayCreate(item) ? findItemFault(item) : 'The control plane runs on this node.'
  if (fault !== undefined) throw new ActionError('refused_by_agent', new Error(fault), { final: true })
  const pulling = (): void => statuses.update(id, { activity: 'pulling' })
  await failAs('image_pull_failed', requisites.ensureImage(template.image, pulling))
  statuses.update(id, { activity: 'starting' })
  await failAs('network_failed', ensureNetworks(deps, item))
  // No environment is requested for a container that cannot be started.
  await deps.volumes.requireMounted(item)
}

const ensureNetworks = ({ requisites, networks }: PerformDeps, { template }: DesiredItem): Promise<void> =>
  template.networks === undefined ? requisites.ensureNetwork() : networks.ensure(template.networks)

/** Refuses a container that this agent could only create with a part left out. */
function requireCapabilities({ capabilities }: PerformDeps, { needs }: DesiredItem): void {
  const lacked = lackedCapabilities(needs, capabilities)
  if (lacked.length === 0) return
  const about = `The agent lacks ${lacked.join(', ')}; upgrade it.`.slice(0, MAX_ABOUT)
  throw new ActionError(AGENT_VERSION, new Error(about), { final: true, about })
}

/** The longest explanation that the server accepts in an observation. */
const MAX_ABOUT = 200

/**
 * Creates a container. If the name is in use by a container of this assignment, that container is adopted; if another
 * container has the name, the next free name is tried.
 */
async function createUnderFreeName(
  deps: PerformDeps,
  item: DesiredItem,
  { name: firstName, environment, placed }: Creation,
): Promise<string> {
  const { engine, tenant, pendingNames, names } = deps
  const address = await failAs('network_failed', (async () => assignFirst(deps, item))())
  const body = containerSettings(item, tenant, address, environment, placed)
  const unsafe = findUnsafeSettings(body, ownPartsOf(deps, item))
  if (unsafe.length > 0)
    throw new ActionError('refused_by_agent', new Error(unsafe.join(', ')), { final: true })
  for (
    let name = firstName;
    ;
    name = lowestFreeName(item.template.name, new Set([...names.all(), ...pendingNames.values()]))
  ) {
    pendingNames.set(item.assignmentId, name)
    const created = await createOnce(deps, item, name, body)
    if (created.kind === 'created') {
      names.add(name)
      pendingNames.delete(item.assignmentId)
      return created.containerId
    }
    const holder = await engine.inspectContainer(name)
    // The engine may have found another container: Docker also accepts the beginning of a container's id as a name.
    if (holder.name !== name)
      throw new EngineError('conflict', 'The name is in use by a container that Docker does not show yet.')
    names.add(name)
    if (readOwnLabels(holder.labels, tenant)?.assignmentId === item.assignmentId) {
      pendingNames.delete(item.assignmentId)
      return adopt(deps, item, holder)
    }
  }
}

/** The address on the first network: the tenant's, or the first of its own. */
function assignFirst({ addresses, tenant }: PerformDeps, { assignmentId, template }: DesiredItem) {
  if (template.networks === undefined) return addresses.assign(assignmentId)
  return addresses.assign(assignmentId, containerNetworks(template, tenant)[0])
}

type CreateOutcome =
  | { readonly kind: 'created'; readonly containerId: string }
  | { readonly kind: 'name_in_use' }

async function createOnce(
  { engine, requisites, networks, pendingNames }: PerformDeps,
  item: DesiredItem,
  name: string,
  body: ReturnType<typeof containerSettings>,
): Promise<CreateOutcome> {
  try {
    return { kind: 'created', containerId: await engine.createContainer(name, body) }
  } catch (error) {
    if (isFault(error, 'conflict')) return { kind: 'name_in_use' }
    if (isFault(error, 'not_found')) {
      requisites.forget(item.template.image)
      networks.forget()
    }
    // Docker rejected the create of the container, so no container has the pending name.
    if (isFault(error, 'not_found', 'refused')) pendingNames.delete(item.assignmentId)
    throw error
  }
}

const ownPartsOf = ({ tenant, volumes }: PerformDeps, { template }: DesiredItem) =>
  ownParts(template, containerNetworks(template, tenant), volumes.places)

function adopt(deps: PerformDeps, item: DesiredItem, { id, settings }: InspectedContainer): string {
  if (findDangers(settings, ownPartsOf(deps, item)).length === 0) return id
  deps.markUnsafe(id)
  throw new ActionError('unsafe_settings', undefined)
}

/** Starts an existing container. Checks its settings first, because they may have been changed since its creation. */
async function startKnown(deps: PerformDeps, item: DesiredItem, { id }: OwnContainer): Promise<void> {
  deps.statuses.update(item.assignmentId, { activity: 'starting' })
  adopt(deps, item, await deps.engine.inspectContainer(id))
  await failAs('network_failed', ensureNetworks(deps, item))
  try {
    await deps.volumes.holding(item, () => start(deps, item, id))
  } catch (error) {
    if (!needsEnvironment(item)) throw error
    throw withoutSecrets(error, item, await deps.engine.readEnvironment(id))
  }
}

/** Removes the secret values of the environment from an error of the engine, which may quote them. */
export function withoutSecrets(error: unknown, item: DesiredItem, environment: readonly string[]): unknown {
  if (!(error instanceof ActionError) || !(error.cause instanceof EngineError)) return error
  const { message, fault } = error.cause
  const given = { text: message, isCut: message.length >= MAX_MESSAGE }
  const cause = new EngineError(fault, redact(given, secretValues(item.template, environment)))
  return new ActionError(error.reason, cause, error)
}

async function start(deps: PerformDeps, item: DesiredItem, id: string): Promise<void> {
  const { assignmentId, template, needs } = item
  await deps.volumes.requireStartable(item)
  await failAs('network_failed', attachContainer(deps, item, id))
  try {
    if (runsOnce(template) && !(await noteFirstStart(deps, assignmentId, id))) return
    await failAs('start_failed', deps.engine.startContainer(id))
  } catch (error) {
    deps.requisites.forget(template.image)
    deps.networks.forget()
    const canRecreate = lackedCapabilities(needs, deps.capabilities).length === 0
    if (canRecreate && isAddressUnusable(error)) await discardAddress(deps, assignmentId, id)
    throw error
  } finally {
    deps.confirm(assignmentId, id)
  }
}

/**
 * Notes on disk that the container of a job is about to start, so that no other one is ever started for the assignment.
 * False if it was started before, by an agent that was killed afterwards, or if another one was.
 */
async function noteFirstStart(
  { engine, statuses, startNotes }: PerformDeps,
  assignmentId: AssignmentId,
  id: string,
): Promise<boolean> {
  const { startedAt } = await failAs('start_failed', engine.inspectContainer(id))
  const isOnly = await startNotes.note(assignmentId, id).catch((error: unknown) => {
    throw new ActionError('start_failed', new EngineError('failed', unrecorded(error)))
  })
  statuses.update(assignmentId, { hasRun: true })
  return isOnly && startedAt === null
}

const unrecorded = (error: unknown): string =>
  `The agent cannot record on its disk that this job starts (${error instanceof Error ? error.message : String(error)}), so it does not start it: it could run twice. Free space on the disk of the node; the agent tries again.`

/**
 * True if a foreign container uses the container's address, or if its network was recreated with another subnet. Docker
 * reports these cases only by these error texts.
 */
const isAddressUnusable = (error: unknown): boolean =>
  error instanceof Error &&
  /Address already in use|does not belong to any of this network's subnets/.test(error.message)

/** Removes a container of which a fixed address is in use by another container. The next pass recreates the container. */
async function discardAddress(
  { engine, addresses, names, startNotes, statuses }: PerformDeps,
  assignmentId: AssignmentId,
  id: string,
): Promise<void> {
  const { name } = await engine.inspectContainer(id)
  const listed = await engine.listLabelled(ASSIGNMENT_LABEL, assignmentId)
  // The engine does not state which address of the container is in use, so all of them are avoided for now.
  for (const container of listed.filter((each) => each.id === id))
    for (const address of container.addresses) addresses.markInUse(address)
  await engine.removeContainer(id)
  names.drop(name)
  // The container never ran, so a job may get another one.
  await startNotes.forget(assignmentId)
  statuses.update(assignmentId, { hasRun: false })
}

async function stop(deps: PerformDeps, item: DesiredItem, { id }: OwnContainer): Promise<void> {
  deps.statuses.update(item.assignmentId, { activity: 'stopping' })
  await drainFirst(deps, id, graceSeconds(item))
  await failAs('stop_failed', deps.engine.stopContainer(id, graceSeconds(item)))
}

/** Stop grace period of orphans, whose own period is unknown; equals the default of deployments. */
const ORPHAN_GRACE_SECONDS = 10

async function remove(
  deps: PerformDeps,
  id: AssignmentId,
  item: DesiredItem | undefined,
  containers: readonly OwnContainer[],
): Promise<void> {
  const { statuses, addresses } = deps
  if (item?.desired === 'removed') statuses.update(id, { activity: 'stopping' })
  const grace = item === undefined ? ORPHAN_GRACE_SECONDS : graceSeconds(item)
  for (const container of containers) await failAs('remove_failed', endContainer(deps, id, container, grace))
  addresses.release(id)
  if (item?.desired === 'removed') statuses.update(id, { container: 'absent' })
}

async function endContainer(
  deps: PerformDeps,
  assignmentId: AssignmentId,
  container: OwnContainer,
  grace: number,
): Promise<void> {
  const { engine, names } = deps
  const { id, name, state } = container
  const keepLog = deps.failedLogs.beforeRemoval(assignmentId, id)
  try {
    if (state === 'running' || state === 'restarting' || state === 'paused') {
      await drainFirst(deps, id, grace)
      await engine.stopContainer(id, grace)
    }
    await keepLog?.()
    await engine.removeContainer(id)
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
  }
  names.drop(name)
}

const drainFirst = ({ drain }: PerformDeps, id: string, grace: number): Promise<void> =>
  drain(id, grace * 1000)
