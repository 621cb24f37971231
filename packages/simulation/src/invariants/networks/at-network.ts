// Invariants: a workload that names networks is placed, and its containers run, on the node of these networks only; and its
// containers are attached only to networks of their own tenant, whose agent leaves networks of others alone.

import { engineNetworkName } from '@holdfast/core/node'
import type { SimulatedMachine } from '../../cluster/snapshot.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { newAssignments, showPlaced } from '../placement/assigned.ts'
import { networksNamed } from './named.ts'

export const atNetwork: Invariant = {
  name: 'at-network',
  start: () =>
    function* (moment) {
      for (const placed of newAssignments(moment)) {
        const { tenant, placement, assignment } = placed
        for (const name of placement.templates[assignment.templateHash]?.networks ?? [])
          if (!networksNamed(moment, tenant, name).some(({ nodeId }) => nodeId === assignment.nodeId))
            yield {
              subject: showPlaced(placed),
              message: `is placed on ${assignment.nodeId}, which has no network ${name}`,
            }
      }
      if (moment.machinesChanged)
        for (const machine of moment.world.machines) yield* elsewhere(moment, machine)
    },
}

/** A machine that was removed by force is not managed, and its containers may outlive their networks. */
function* elsewhere(
  moment: Moment,
  { name, tenant, nodeId, containers }: SimulatedMachine,
): Generator<Broken> {
  for (const { assignmentId, networks, state, owner } of containers) {
    if (networks === undefined || state === 'exited') continue
    const assigned = moment.placements.is(tenant, owner)?.assignments.find(({ id }) => id === assignmentId)
    if (assigned?.nodeId !== nodeId || moment.nodes.is(tenant, nodeId) === undefined) continue
    for (const joined of networks.joined)
      if (!networksNamed(moment, tenant, joined).some((network) => network.nodeId === nodeId))
        yield { subject: name, message: `runs ${assignmentId}, which joins ${joined} of another node` }
  }
}

export const networkTenants: Invariant = {
  name: 'network-tenants',
  start: () =>
    function* ({ world, machinesChanged }) {
      if (!machinesChanged) return
      for (const { name, tenant, containers, networks, foreignNetworks } of world.machines) {
        const present = new Set(networks.map(({ engineId }) => engineId))
        for (const engineId of foreignNetworks)
          if (!present.has(engineId))
            yield { subject: name, message: `lost ${engineId}, a network that is not its tenant’s` }
        const own = new Set(networks.filter((each) => each.tenant === tenant).map((each) => each.name))
        for (const { assignmentId, state, networks: ofContainer } of containers)
          for (const attached of state === 'exited' ? [] : (ofContainer?.attached ?? []))
            if (!own.has(attached))
              yield { subject: name, message: `${assignmentId} is attached to ${attached} of another tenant` }
      }
    },
}

/** The names on the engine of the networks that a container joins. */
export const engineNames = (
  { tenant }: Pick<SimulatedMachine, 'tenant'>,
  joined: readonly string[],
): string[] => joined.map((name) => engineNetworkName(tenant, name))
