// Keeps the node's networks as desired: a pass lists the networks of the engine, plans, and acts. It runs after each change
// of the desired state, before a container joins a network, and again and again, so that a network that the engine lost
// is created again. See docs/design/networks.md#networks-on-the-engine

import type { AssignmentId, DesiredItem, DesiredNetwork, ObservedNetwork } from '@holdfast/contract'
import {
  engineNetworkName,
  type FoundNetwork,
  type NetworkStep,
  networkLabels,
  planNetworks,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type Engine, isFault } from '../ports/engine.ts'
import type { DesiredChange } from '../ports/session.ts'
import type { Addresses } from '../routing/addresses.ts'
import { coalesce } from '../routing/coalesce.ts'
import { createOnFreeSubnet, retryConflicts, SUBNET_LABEL } from '../routing/free-subnet.ts'
import { type AttachDeps, attachContainers } from './attach.ts'
import { createDesiredNetworks } from './desired-networks.ts'

const CHECK_MS = 30_000
/** The next pass after one in which something failed. */
const RETRY_MS = 3_000

export interface NetworkKeeperDeps extends AttachDeps {
  readonly engine: AttachDeps['engine'] & Pick<Engine, 'listNetworks' | 'createNetwork' | 'removeNetwork'>
  /** The desired containers, which may join networks. */
  readonly items: ReadonlyMap<AssignmentId, DesiredItem>
  readonly addresses: Pick<Addresses, 'assign' | 'setSubnet'>
  report(networks: ObservedNetwork[]): void
  readonly checkMs?: number | undefined
  readonly log: Logger
}

export interface NetworkKeeper {
  apply(change: DesiredChange, source: 'server' | 'disk'): void
  /** All networks as last observed. */
  observed(): ObservedNetwork[]
  saved(): { readonly networks?: readonly DesiredNetwork[] }
  /** Ensures that the engine has the named networks. Rejects if one of them is not of this node, or cannot be created. */
  ensure(names: readonly string[]): Promise<void>
  /** Makes the next `ensure` ask the engine, because a network may be gone. */
  forget(): void
  close(): Promise<void>
}

export function startNetworkKeeper(deps: NetworkKeeperDeps): NetworkKeeper {
  const { tenant, items, log, checkMs = CHECK_MS } = deps
  const desired = createDesiredNetworks()
  const status = createStatus(deps.report)
  /** Counts the reasons for a pass; a pass is current if none came after its start. */
  let asked = 1
  let answered = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function pass(): Promise<void> {
    const networks = [...desired.all.values()]
    status.keepOnly(desired.all)
    const isIdle = networks.length === 0 && !desired.isComplete()
    if (isIdle) return
    const steps = planNetworks({
      tenant,
      desired: networks,
      found: await deps.engine.listNetworks(),
      needed: neededNames(items.values()),
      isComplete: desired.isComplete(),
    })
    for (const step of steps) if (!isClosed) await perform(deps, step, desired.all, status)
  }
  const check = coalesce(async () => {
    clearTimeout(timer)
    if (isClosed) return
    const began = asked
    // If the networks could not be listed, nothing was observed and nothing is reported.
    const isDone = await pass().then(
      () => true,
      (error: unknown) => {
        log.warn({ message: String(error) }, 'networks not checked')
        return false
      },
    )
    if (isDone) answered = began
    const waitMs = isDone && !status.hasFailed() ? checkMs : Math.min(RETRY_MS, checkMs)
    if (!isClosed) timer = setTimeout(() => void check(), waitMs).unref()
  })
  return {
    apply(change, source) {
      desired.apply(change, source)
      asked += 1
      void check()
    },
    observed: status.observed,
    saved: desired.saved,
    async ensure(names) {
      if (answered < asked) await check()
      for (const name of names) requirePresent(desired.all.values(), status.of, name)
    },
    forget() {
      asked += 1
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await check()
    },
  }
}

/** The names of the networks that desired containers join. A container that is to be removed may still be attached. */
function neededNames(items: Iterable<DesiredItem>): Set<string> {
  return new Set([...items].flatMap(({ template }) => template.networks ?? []))
}

function requirePresent(
  networks: Iterable<DesiredNetwork>,
  statusOf: (id: string) => ObservedNetwork | undefined,
  name: string,
): void {
  const network = [...networks].find((each) => each.options.name === name && each.desired === 'present')
  if (network === undefined) throw new Error(`The network ${name} is not a network of this node.`)
  const { state, reason } = statusOf(network.id) ?? { state: 'failed', reason: 'not checked yet' }
  if (state !== 'present') throw new Error(`The network ${name} is not on the engine: ${reason}.`)
}

type Status = Pick<ReturnType<typeof createStatus>, 'of' | 'set'>

/** Carries out one step. A step that fails is reported and repeated by the next pass; the others continue. */
async function perform(
  deps: NetworkKeeperDeps,
  step: NetworkStep,
  desired: ReadonlyMap<string, DesiredNetwork>,
  { of, set }: Status,
): Promise<void> {
  const { id } = step
  try {
    const outcome = await act(deps, step, of(id)?.state === 'present')
    if (outcome !== undefined && desired.has(id)) set({ id, ...outcome })
  } catch (error) {
    deps.log.warn({ network: id, message: String(error) }, 'network is not as desired, retrying')
    const reason = isFault(error, 'conflict') ? 'in_use' : 'engine_failed'
    if (desired.has(id)) set({ id, state: 'failed', reason })
  }
}

type Outcome = Omit<ObservedNetwork, 'id'>
const PRESENT: Outcome = { state: 'present', reason: '' }
const REMOVED: Outcome = { state: 'removed', reason: '' }

/**
 * Undefined if the step alone does not show the state of the network. An agent that crashed may have created a network
 * without attaching its containers, so they are attached unless this agent has reported the network as present.
 */
async function act(
  deps: NetworkKeeperDeps,
  step: NetworkStep,
  wasPresent: boolean,
): Promise<Outcome | undefined> {
  const { engine, tenant, addresses } = deps
  switch (step.kind) {
    case 'present':
      addresses.setSubnet(step.found.labels[SUBNET_LABEL], step.found.name)
      if (!wasPresent) await attachContainers(deps, deps.items, step.found.name)
      return PRESENT
    case 'create': {
      const name = engineNetworkName(tenant, step.options.name)
      const { internal } = step.options
      const labels = networkLabels(tenant, step)
      const subnet = await retryConflicts(() => createOnce(engine, { name, labels, internal }))
      addresses.setSubnet(subnet, name)
      await attachContainers(deps, deps.items, name)
      return PRESENT
    }
    case 'blocked':
      return { state: 'failed', reason: 'name_in_use' }
    case 'wait':
      return { state: 'failed', reason: 'in_use' }
    case 'remove':
      for (const network of step.found) await engine.removeNetwork(network.engineId)
      return step.isLast ? REMOVED : undefined
    case 'removed':
      return REMOVED
  }
}

/** Creates the network, unless an earlier attempt did although its answer was lost. */
async function createOnce(
  engine: NetworkKeeperDeps['engine'],
  network: Pick<FoundNetwork, 'name' | 'labels' | 'internal'>,
): Promise<string | undefined> {
  const isSame = ({ name, labels }: FoundNetwork): boolean =>
    name === network.name && Object.entries(network.labels).every(([key, value]) => labels[key] === value)
  const found = (await engine.listNetworks()).find(isSame)
  return found === undefined ? createOnFreeSubnet(engine, network) : found.labels[SUBNET_LABEL]
}

/** The last observed state of each network. Changes are reported at once. */
function createStatus(report: (networks: ObservedNetwork[]) => void) {
  const byId = new Map<string, ObservedNetwork>()
  return {
    of: (id: string) => byId.get(id),
    observed: () => [...byId.values()],
    hasFailed: () => [...byId.values()].some(({ state }) => state === 'failed'),
    set(next: ObservedNetwork): void {
      const before = byId.get(next.id)
      byId.set(next.id, next)
      if (before?.state !== next.state || before.reason !== next.reason) report([next])
    },
    keepOnly(desired: ReadonlyMap<string, DesiredNetwork>): void {
      for (const id of byId.keys()) if (!desired.has(id)) byId.delete(id)
    },
  }
}
