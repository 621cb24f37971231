// The part of a simulated agent that keeps networks on its engine. A pass lists the networks, plans with the function of the real
// agent and acts; it runs after each change of the desired state, before a container joins a network, and every 30 s.

import type {
  AssignmentId,
  DesiredItem,
  DesiredNetwork,
  NetworkId,
  ObservedNetwork,
  TenantId,
} from '@holdfast/contract'
import {
  containerNetworks,
  engineNetworkName,
  type NetworkStep,
  networkLabels,
  planNetworks,
} from '@holdfast/core/node'
import type { Container, Machine } from '../cluster/machine.ts'
import { hasNetworks, type NetworkCalls } from './engine-networks.ts'

/** The networks in a message of the server; absent if it sends none. */
export interface NetworksChange {
  readonly complete: boolean
  readonly networks?: readonly DesiredNetwork[] | undefined
  readonly goneNetworks?: readonly string[] | undefined
}

export interface NetworkKeeperDeps {
  readonly tenant: TenantId
  readonly machine: Machine
  readonly calls: NetworkCalls
  /** The desired containers, which may join networks. */
  readonly items: ReadonlyMap<AssignmentId, DesiredItem>
  report(networks: readonly ObservedNetwork[]): void
}

export interface NetworkKeeper {
  apply(change: NetworksChange): void
  observed(): ObservedNetwork[]
  /** Whether the engine has the networks that the container joins, after a pass if one is due. */
  ensure(item: DesiredItem): Promise<boolean>
  /** Attaches the container to those of its networks that it lacks. False if the engine has lost one. */
  attach(item: DesiredItem, container: Container): Promise<boolean>
  /** Makes the next `ensure` ask the engine, because a network may be gone. */
  forget(): void
}

const CHECK_MS = 30_000
const RETRY_MS = 3_000

interface Keeping extends NetworkKeeperDeps {
  readonly desired: Map<NetworkId, DesiredNetwork>
  readonly status: Map<NetworkId, ObservedNetwork>
  isComplete: boolean
  /** Counts the reasons for a pass; a pass is current if none came after its start. */
  asked: number
  answered: number
  timer: NodeJS.Timeout | undefined
  running: Promise<void> | undefined
  next: Promise<void> | undefined
}

export function startNetworkKeeper(deps: NetworkKeeperDeps): NetworkKeeper {
  const keeping: Keeping = {
    ...deps,
    ...{ desired: new Map(), status: new Map(), isComplete: false, asked: 0, answered: 0 },
    ...{ timer: undefined, running: undefined, next: undefined },
  }
  const isPresent = (name: string): boolean =>
    [...keeping.desired.values()].some(
      ({ id, desired, options }) =>
        options.name === name && desired === 'present' && keeping.status.get(id)?.state === 'present',
    )
  return {
    apply(change) {
      applyChange(keeping, change)
      keeping.asked += 1
      if (!isIdle(keeping)) void check(keeping)
    },
    observed: () => [...keeping.status.values()],
    async ensure({ template }) {
      if (keeping.answered < keeping.asked) await check(keeping)
      return (template.networks ?? []).every(isPresent)
    },
    attach: (item, container) => attach(keeping, item, container),
    forget() {
      keeping.asked += 1
    },
  }
}

function applyChange(keeping: Keeping, { complete, networks, goneNetworks = [] }: NetworksChange): void {
  const { desired, status } = keeping
  if (complete && networks !== undefined) {
    desired.clear()
    keeping.isComplete = true
  }
  for (const network of networks ?? []) desired.set(network.id, network)
  for (const id of desired.keys()) if (goneNetworks.includes(id)) desired.delete(id)
  for (const id of status.keys()) if (!desired.has(id)) status.delete(id)
}

/** A pass would do nothing. Most simulated machines never have a network, so none of them lists its networks in vain. */
const isIdle = ({ desired, isComplete, machine }: Keeping): boolean =>
  desired.size === 0 && (!isComplete || machine.networks.found.size === 0)

/** Runs one pass at a time. All calls during a pass share the next one, which sees their changes. */
function check(keeping: Keeping): Promise<void> {
  if (keeping.running === undefined) {
    keeping.running = checkOnce(keeping).finally(() => {
      keeping.running = undefined
    })
    return keeping.running
  }
  keeping.next ??= keeping.running.then(() => {
    keeping.next = undefined
    return check(keeping)
  })
  return keeping.next
}

async function checkOnce(keeping: Keeping): Promise<void> {
  clearTimeout(keeping.timer)
  const began = keeping.asked
  if (!isIdle(keeping)) await pass(keeping)
  keeping.answered = began
  const hasFailed = [...keeping.status.values()].some(({ state }) => state === 'failed')
  if (!isIdle(keeping)) keeping.timer = setTimeout(() => void check(keeping), hasFailed ? RETRY_MS : CHECK_MS)
}

async function pass(keeping: Keeping): Promise<void> {
  const { tenant, desired, calls, items, isComplete } = keeping
  const networks = [...desired.values()]
  const found = await calls.list()
  const needed = new Set([...items.values()].flatMap(({ template }) => template.networks ?? []))
  for (const step of planNetworks({ tenant, desired: networks, found, needed, isComplete })) {
    const seen = await act(keeping, step)
    if (seen !== undefined && desired.has(step.id)) setStatus(keeping, { id: step.id, ...seen })
  }
}

function setStatus({ status, report }: Keeping, seen: ObservedNetwork): void {
  const before = status.get(seen.id)
  status.set(seen.id, seen)
  if (before?.state !== seen.state || before.reason !== seen.reason) report([seen])
}

type Seen = Omit<ObservedNetwork, 'id'>
const PRESENT: Seen = { state: 'present', reason: '' }
const REMOVED: Seen = { state: 'removed', reason: '' }
const failed = (reason: string): Seen => ({ state: 'failed', reason })

/** Undefined if the step alone does not show the state of the network. */
async function act(keeping: Keeping, step: NetworkStep): Promise<Seen | undefined> {
  const { tenant, calls } = keeping
  switch (step.kind) {
    case 'present':
      // An agent that crashed may have created the network without attaching the containers.
      if (keeping.status.get(step.id)?.state !== 'present') await attachAll(keeping, step.found.name)
      return PRESENT
    case 'create': {
      const name = engineNetworkName(tenant, step.options.name)
      const { internal } = step.options
      const answer = await calls.create({ name, internal, labels: networkLabels(tenant, step) })
      if (answer !== 'done') return failed('in_use')
      await attachAll(keeping, name)
      return PRESENT
    }
    case 'blocked':
      return failed('name_in_use')
    case 'wait':
      return failed('in_use')
    case 'remove': {
      for (const { engineId } of step.found)
        if ((await calls.remove(engineId)) === 'conflict') return failed('in_use')
      return step.isLast ? REMOVED : undefined
    }
    case 'removed':
      return REMOVED
  }
}

/** Attaches the running containers that join the network, because the engine had lost it. */
async function attachAll(keeping: Keeping, name: string): Promise<void> {
  const { machine, items, tenant } = keeping
  for (const container of [...machine.containers.values()]) {
    const item = items.get(container.assignmentId)
    if (item?.desired !== 'running' || container.state !== 'running') continue
    if (containerNetworks(item.template, tenant).includes(name)) await attach(keeping, item, container)
  }
}

async function attach(
  { calls, tenant, machine }: Keeping,
  { template }: DesiredItem,
  container: Container,
): Promise<boolean> {
  if (template.networks === undefined) return true
  const names = containerNetworks(template, tenant)
  for (const name of names) if (!container.attached.has(name)) await calls.connect(name, container)
  return hasNetworks(machine, names)
}
