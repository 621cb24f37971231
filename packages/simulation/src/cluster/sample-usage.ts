// The usage that a simulated agent measures: the load of a deployment is shared by its containers that are ready and reached by
// clients, in equal parts, as a load balancer would.

import { deploymentUidOf, type Owner, type SampleRound } from '@holdfast/contract'
import type { Machine } from './machine.ts'
import type { Mirror } from './mirror.ts'

/** The parts of the world that the samples depend on. */
interface Loaded {
  /** The load of deployments, by tenant and name. */
  readonly loads: ReadonlyMap<string, number>
  readonly mirror: Mirror
  readonly nodes: ReadonlyMap<string, HasMachine>
}

interface HasMachine {
  readonly machine: Machine
}

/** The samples of one heartbeat; undefined if the script has no load. */
export function sampleUsage(world: Loaded, { machine }: HasMachine): SampleRound | undefined {
  if (world.loads.size === 0) return undefined
  const running = [...machine.containers.values()].filter(({ state }) => state === 'running')
  return {
    ...{ ageMs: 0, node: {}, unread: 0 },
    containers: running.map(({ assignmentId, owner, ready }) => ({
      id: assignmentId,
      cpuMillis: ready ? shareOf(world, owner) : 0,
      memoryBytes: 0,
    })),
  }
}

function shareOf(world: Loaded, owner: Owner): number {
  const uid = deploymentUidOf(owner)
  const found = world.mirror.records().deployments.find(({ record }) => record.uid === uid)
  const load = world.loads.get(`${found?.tenant}/${found?.record.spec.name}`) ?? 0
  const sharing = [...world.nodes.values()].filter((node) => isReached(node.machine))
  const serving = sharing.flatMap(({ machine }) =>
    [...machine.containers.values()].filter((one) => one.owner === owner && one.ready && !one.stopping),
  )
  return Math.round(load / Math.max(1, serving.length))
}

const isReached = ({ powered, connected, frozen }: Machine): boolean => powered && connected && !frozen
