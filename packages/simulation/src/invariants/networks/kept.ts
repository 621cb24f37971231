// Invariant: a network in use is never removed, neither its record nor the network on the engine of its node.

import type { SimulatedMachine, SimulatedNetwork } from '../../cluster/snapshot.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { engineNames } from './at-network.ts'
import { usersOf } from './named.ts'

export const networkKept: Invariant = {
  name: 'network-kept',
  start() {
    let before = new Map<string, SimulatedNetwork>()
    return function* (moment) {
      yield* deletedInUse(moment)
      if (!moment.machinesChanged) return
      const now = new Map<string, SimulatedNetwork>()
      for (const machine of moment.world.machines) {
        for (const network of machine.networks) now.set(network.engineId, network)
        yield* removedInUse(moment, machine, before)
      }
      before = now
    }
  },
}

function* deletedInUse(moment: Moment): Generator<Broken> {
  for (const { tenant, was, is } of moment.networks.changed) {
    const isEnding = is === undefined || (is.phase === 'Deleting' && was?.phase !== 'Deleting')
    if (tenant === undefined || was === undefined || !isEnding) continue
    const [user] = usersOf(moment, tenant, was.options.name)
    if (user !== undefined)
      yield { subject: was.options.name, message: `is ${is?.phase ?? 'gone'}, and ${user} uses it` }
  }
}

/** A container without an assignment is about to be removed, and may outlive its network. */
function* removedInUse(
  moment: Moment,
  machine: SimulatedMachine,
  before: ReadonlyMap<string, SimulatedNetwork>,
): Generator<Broken> {
  const { name, tenant, containers, networks, lostNetworks } = machine
  const left = new Set(networks.map(({ engineId }) => engineId))
  for (const { engineId, name: network } of before.values()) {
    if (!engineId.startsWith(`${name}-`) || left.has(engineId) || lostNetworks.has(engineId)) continue
    for (const { assignmentId, owner, networks: ofContainer } of containers) {
      const assigned = moment.placements.is(tenant, owner)?.assignments.some(({ id }) => id === assignmentId)
      if (assigned === true && engineNames(machine, ofContainer?.joined ?? []).includes(network))
        yield { subject: name, message: `removed ${network}, which ${assignmentId} joins` }
    }
  }
}
