// Creates and starts a container that joins networks, as the real agent does: the networks first, then the container on the first
// of them, because older engines accept only one, then the others, and the start at last.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'
import { containerNetworks, type NodeAction } from '@holdfast/core/node'
import type { Container, Engine, Machine } from '../cluster/machine.ts'
import { hasNetworks } from './engine-networks.ts'
import type { NetworkKeeper } from './keep-networks.ts'

export interface JoinDeps {
  readonly tenant: TenantId
  readonly machine: Machine
  readonly engine: Pick<Engine, 'create' | 'start'>
  readonly networks: NetworkKeeper
  readonly desired: ReadonlyMap<AssignmentId, DesiredItem>
  /** Whether every volume of the container is mounted. */
  mayStart(item: DesiredItem): boolean
}

/** `done`: nothing is left to wait for; the next pass of the agent sees whether the container runs. */
export type Joined = 'done' | 'no-network' | 'no-volume'

export const joinsNetworks = ({ template }: DesiredItem): boolean => template.networks !== undefined

const isDesired = ({ desired }: JoinDeps, { assignmentId }: DesiredItem): boolean =>
  desired.get(assignmentId)?.desired === 'running'

export async function createJoined(
  deps: JoinDeps,
  { item, name }: NodeAction & { kind: 'create' },
): Promise<Joined> {
  const { networks, machine, engine, tenant } = deps
  if (!(await networks.ensure(item))) return 'no-network'
  if (!isDesired(deps, item)) return 'done'
  const [first] = containerNetworks(item.template, tenant)
  if (!hasNetworks(machine, [first])) return 'no-network'
  const container = engine.create(item, name)
  container.attached.add(first)
  return startJoined(deps, item, container)
}

export async function startJoined(
  deps: JoinDeps,
  item: DesiredItem,
  container: Container | undefined,
): Promise<Joined> {
  const { networks, machine, engine } = deps
  if (!(await networks.ensure(item))) return 'no-network'
  if (container === undefined) return 'done'
  if (!(await networks.attach(item, container))) return 'no-network'
  if (!deps.mayStart(item)) return 'no-volume'
  const isDown = machine.containers.has(container.id) && container.state !== 'running'
  const queued = isDown && isDesired(deps, item) ? engine.start(container) : undefined
  if (queued !== undefined) await queued
  if (container.state !== 'running') networks.forget()
  return 'done'
}
