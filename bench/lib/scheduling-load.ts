// The load of the scheduler benchmarks: tenants with nodes of which each filter rejects some, workloads that use all
// filters, and successive decisions for a tenant.

import type { ResidencyDemand } from '@holdfast/contract'
import { desiredResidency } from '@holdfast/core'
import type { NodeFacts, SchedulingView, TenantFacts, Workload } from '@holdfast/core/scheduling/index'
import { aNode, aWorkload, someFacts } from '@holdfast/core/scheduling/scheduling.fixture'

const KINDS = 64
const ZONES = 12
/** Number of the node that some workloads require by name. These workloads fit there and do not exclude its zone. */
const NAMED = 20
const COUNTRIES = ['DE', 'FR', 'AT']
const RULES = {
  enforcement: true,
  regions: { eu: ['AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR'], na: ['US', 'CA'] },
}

/** A tenant in which each filter rejects one node in twenty, half of the nodes are half full, and ten deployments run. */
export function tenantOf(nodes: number): TenantFacts {
  return someFacts(
    Array.from({ length: nodes }, (_node, number) => nodeOf(number)),
    0,
    1_000_000,
  )
}

function nodeOf(number: number): NodeFacts {
  const busy = (Math.imul(number + 1, 2_654_435_761) >>> 8) % 100
  return aNode(number, {
    status: number % 20 === 1 ? 'unreachable' : 'ready',
    schedulable: number % 20 !== 2,
    controlPlane: number % 20 === 3,
    claim: number % 20 === 4 ? 'releasing' : 'sole',
    agent: { version: '0.1.0', capabilities: number % 20 === 9 ? ['limits'] : ['health_check', 'limits'] },
    labels: {
      zone: `z${number % ZONES}`,
      disk: number % 20 === 5 ? 'hdd' : 'ssd',
      rack: `r${number % 40}`,
      ...locationOf(number),
    },
    ...(number === NAMED ? { capacity: { cpuMillis: 64_000, memoryBytes: 2 ** 37 } } : {}),
    requested: { cpuMillis: 40 * busy, memoryBytes: 80 * 2 ** 20 * ((busy * 31) % 100) },
    replicas: new Map([
      [`db-${number % 4}`, 1],
      [`batch-${number % 10}`, 2],
    ]),
  })
}

/** Location labels of a node: some nodes are in a blocked country, some have no location, and some only a region. */
function locationOf(number: number): { [label: string]: string } {
  if (number % 20 === 6) return { 'holdfast.io/country': 'US' }
  if (number % 20 === 7) return {}
  if (number % 20 === 8) return { 'holdfast.io/geo-region': 'eu' }
  return { 'holdfast.io/country': COUNTRIES[number % COUNTRIES.length] ?? 'DE' }
}

const BLOCKED = ['US', 'CN']
const DEMANDS: readonly ResidencyDemand[] = [
  { region: 'eu' },
  { country: 'DE' },
  { blockedCountries: BLOCKED },
  { region: 'eu', blockedCountries: BLOCKED },
]

const NEEDS = ['health_check', 'limits']

/** A workload with constraints, affinity, anti-affinity and requests. One workload in sixteen requires a node by name. */
function workloadOf(number: number): Workload {
  const names = number % 16 === 15
  const residency = DEMANDS[number % DEMANDS.length] ?? {}
  return aWorkload({
    name: `app-${number}`,
    needs: NEEDS,
    resources: { cpuMillis: 100 + number, memoryBytes: 2 ** 26 },
    placement: {
      residency,
      constraints: [
        { label: 'disk', operator: 'in', values: ['ssd', 'nvme'] },
        { label: 'zone', operator: 'notIn', values: [`z${number % ZONES}`] },
      ],
      antiAffinity: names ? [] : [`batch-${number % 10}`, `app-${number}`],
      ...(number % 2 === 0 ? { affinity: [`db-${number % 4}`] } : {}),
      ...(number % 4 < 2 ? { spread: 'rack' } : {}),
    },
    nodeId: names ? aNode(NAMED).id : undefined,
  })
}

const WORKLOADS = Array.from({ length: KINDS }, (_kind, number) => workloadOf(number))

/** Builds a new workload object for each decision, as the controllers do. */
export function workloadAt(index: number): Workload {
  const workload = WORKLOADS[index % KINDS] ?? aWorkload()
  return { ...workload, residency: desiredResidency(workload.placement?.residency, RULES) }
}

/** Makes and records decisions. Once the tenant has the given number of placements, each new one replaces the oldest. */
export function createLoad(
  view: SchedulingView,
  held = 500,
  workloads: (index: number) => Workload = workloadAt,
): (index: number) => void {
  const assigned: (() => void)[] = []
  return (index) => {
    const workload = workloads(index)
    const [nodeId] = view.place(workload, 1).placed
    if (nodeId === undefined) throw new Error(`no node fits ${workload.name}`)
    view.applyAssigned(nodeId, workload.name, workload.resources)
    assigned.push(() => view.applyReleased(nodeId, workload.name, workload.resources))
    if (assigned.length > held) assigned.shift()?.()
  }
}

/** The workloads of a small tenant: three deployments, each with a different residency demand. */
export function smallWorkloadAt(index: number): Workload {
  const residency = DEMANDS[index % 3] ?? {}
  return aWorkload({
    name: `small-${index % 3}`,
    resources: { cpuMillis: 100, memoryBytes: 2 ** 26 },
    placement: { residency, constraints: [{ label: 'disk', operator: 'in', values: ['ssd', 'nvme'] }] },
    residency: desiredResidency(residency, RULES),
  })
}
