// Changes the number of copies of a volume: to a given number, by one on a chosen node, or by the one on a node.

import { isNodeId, type Json, type Volume } from '@holdfast/contract'
import {
  checkReplicaNode,
  checkReplicas,
  checkVolumePatch,
  placeCopies,
  refusalOfNode,
  refusalOfVolume,
  reject,
} from '@holdfast/core'
import type { StoredVolume } from '../../store/records.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import type { Kept } from '../idempotency.ts'
import type { NewEvent } from '../record-write.ts'
import { changeVolume, type VolumeChange } from './change-volume.ts'
import type { VolumeDeps } from './deps.ts'
import { replicaAddedEvent, replicaRemovedEvent } from './volume-events.ts'
import { demandOf, gatherVolumeFacts, withoutLeaving } from './volume-facts.ts'
import { namesOfNodes } from './volume-view.ts'

export async function scaleVolume(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  body: Json,
  ifMatch: string | undefined,
): Promise<Outcome<Volume>> {
  const checked = checkVolumePatch(body)
  if (!checked.ok) return refused(...checked.rejections)
  return changeVolume(deps, caller, id, {
    action: 'volumes:scale',
    ifMatch,
    ...setReplicas(deps, caller, checked.value),
  })
}

/** The change of a volume to a number of copies. */
export function setReplicas(
  deps: Pick<VolumeDeps, 'store' | 'residency'>,
  caller: Pick<Caller, 'tenant'>,
  replicas: number,
): Required<Pick<VolumeChange, 'decide' | 'events'>> {
  const { store, residency } = deps
  return {
    decide(volume) {
      const { spec: before, copies } = volume
      const rejections = checkReplicas(before, replicas)
      if (rejections.length > 0) return refused(...rejections)
      if (replicas === before.replicas) return done(undefined)
      const spec = { ...before, replicas }
      const demand = demandOf(store, caller.tenant, spec, residency)
      const facts = withoutLeaving(gatherVolumeFacts(store, caller.tenant), volume)
      return done({ spec, copies: placeCopies(demand, copies, facts) })
    },
    events: eventsOfCopies(deps, caller),
  }
}

export async function addReplica(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  body: Json,
  kept: Kept<Volume>,
): Promise<Outcome<Volume>> {
  const checked = checkReplicaNode(body)
  if (!checked.ok) return refused(...checked.rejections)
  const nodeId = checked.value
  const { store, residency } = deps
  const invalid = (reason: string) => refused(reject('replica_node_invalid', 'node_id', nodeId, { reason }))
  return changeVolume(deps, caller, id, {
    action: 'volumes:add-replica',
    kept,
    decide({ spec, copies, leaving = [] }) {
      const reason = refusalOfVolume(spec, copies)
      if (reason !== undefined) return invalid(reason)
      if (leaving.some((old) => old.nodeId === nodeId)) return invalid('it still deletes an older copy')
      if (!isNodeId(nodeId)) return invalid('this tenant has no such node')
      const demand = demandOf(store, caller.tenant, spec, residency)
      const refusal = refusalOfNode(demand, copies, nodeId, gatherVolumeFacts(store, caller.tenant))
      if (refusal !== undefined) return invalid(refusal)
      const next = { ...spec, replicas: spec.replicas + 1 }
      return done({ spec: next, copies: [...copies, { nodeId, role: 'replica', state: 'seeding' }] })
    },
    events: eventsOfCopies(deps, caller),
  })
}

export async function removeReplica(
  deps: VolumeDeps,
  caller: Caller,
  id: string,
  nodeId: string,
  ifMatch: string | undefined,
): Promise<Outcome<Volume>> {
  return changeVolume(deps, caller, id, {
    action: 'volumes:remove-replica',
    ifMatch,
    decide({ spec, copies }) {
      const rest = copies.filter((copy) => copy.nodeId !== nodeId || copy.role === 'primary')
      if (rest.length === copies.length) return refused(reject('node_not_found', 'nodeId', nodeId))
      return done({ spec: { ...spec, replicas: spec.replicas - 1 }, copies: rest })
    },
    events: eventsOfCopies(deps, caller),
  })
}

function eventsOfCopies({ store }: Pick<VolumeDeps, 'store'>, { tenant }: Pick<Caller, 'tenant'>) {
  const nameOf = namesOfNodes(store, tenant)
  return (next: StoredVolume, before: StoredVolume): NewEvent[] => {
    const [had, has] = [before, next].map(({ copies }) => new Set(copies.map(({ nodeId }) => nodeId)))
    const added = next.copies.filter(({ role, nodeId }) => role === 'replica' && had?.has(nodeId) !== true)
    const removed = before.copies.filter(({ nodeId }) => has?.has(nodeId) !== true)
    return [
      ...added.map(({ nodeId }) => replicaAddedEvent(next, nodeId, nameOf)),
      ...removed.map(({ nodeId }) => replicaRemovedEvent(next, nodeId, nameOf)),
    ]
  }
}
