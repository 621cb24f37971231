// End-state invariant: every network is ready or states a true reason, the engines of a tenant's nodes have its ready networks and
// no other ones of the tenant, and every container that runs is attached to exactly the networks that it joins.

import type { NodeId, TenantId } from '@holdfast/contract'
import type { StoredNetwork } from '@holdfast/server/store/records'
import type { SimulatedMachine } from '../../cluster/snapshot.ts'
import type { Broken, Invariant } from '../invariant.ts'
import { isReleased, type Moment } from '../moment.ts'
import { engineNames } from './at-network.ts'

export const networksSettled: Invariant = {
  name: 'networks-settled',
  atEnd: true,
  start: () =>
    function* (moment) {
      for (const { tenant, record } of moment.networks.all)
        if (tenant !== undefined) yield* unsettled(moment, tenant, record)
      for (const machine of moment.world.machines)
        if (moment.nodes.is(machine.tenant, machine.nodeId) !== undefined) yield* stray(moment, machine)
    },
}

function* unsettled(moment: Moment, tenant: TenantId, network: StoredNetwork): Generator<Broken> {
  const { id, phase, reason, nodeId, options } = network
  const subject = options.name
  if (phase !== 'Ready' && !isLeft(moment, tenant, nodeId)) {
    yield { subject, message: `is ${phase}, ${reason}` }
    return
  }
  if (phase !== 'Ready') return
  const machine = moment.world.machines.find((each) => each.nodeId === nodeId)
  const found = machine?.networks.filter((each) => each.tenant === tenant && each.id === id) ?? []
  const [right] = found.filter(({ internal }) => internal === options.internal)
  if (found.length !== 1 || right === undefined)
    yield { subject, message: `is Ready, and its engine has ${found.length} of it` }
}

/** Whether the node is gone, or about to go. */
function isLeft(moment: Moment, tenant: TenantId, nodeId: NodeId): boolean {
  const node = moment.nodes.is(tenant, nodeId)
  return node === undefined || isReleased(moment, tenant, node)
}

function* stray(moment: Moment, machine: SimulatedMachine): Generator<Broken> {
  const { name: subject, tenant, nodeId, networks, containers } = machine
  for (const { name, id, tenant: owner } of networks)
    if (owner === tenant && moment.networks.is(tenant, id)?.nodeId !== nodeId)
      yield { subject, message: `still has ${name}, ${id}, which is no network of its node` }
  for (const { assignmentId, state, networks: ofContainer } of containers) {
    if (ofContainer === undefined || state === 'exited') continue
    const joined = engineNames(machine, ofContainer.joined).toSorted().join()
    if (ofContainer.attached.toSorted().join() !== joined)
      yield { subject, message: `${assignmentId} joins ${joined} and is attached to ${ofContainer.attached}` }
  }
}
