// Invariant: agents keep the data of copies that the records list.

import type { TenantId } from '@holdfast/contract'
import type { StoredVolume } from '@holdfast/server/store/records'
import type { SimulatedCopy } from '../../cluster/snapshot.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'

/**
 * Invariant: an agent deletes the last data of a copy only if the record does not list the copy. A record goes only when
 * no node that it lists has data.
 */
export const dataKept: Invariant = {
  name: 'data-kept',
  start() {
    const held = new Map<string, boolean>()
    return function* (moment) {
      for (const { name, nodeId, tenant, copies } of moment.world.machines)
        for (const copy of copies) {
          const key = `${name}/${copy.volume}`
          const has = hasData(copy)
          if (held.get(key) === true && !has) yield* deletedInUse(moment, tenant, nodeId, copy)
          held.set(key, has)
        }
      yield* forgottenData(moment)
    }
  },
}

const hasData = ({ live, checkpoints, quarantined }: SimulatedCopy): boolean =>
  live?.isMade === true || checkpoints.length > 0 || quarantined.length > 0

function* deletedInUse(
  { volumes }: Moment,
  tenant: TenantId,
  nodeId: string,
  { volume }: SimulatedCopy,
): Generator<Broken> {
  const isListed = (record: StoredVolume | undefined) =>
    record?.copies.some((copy) => copy.nodeId === nodeId) === true
  if (isListed(volumes.is(tenant, volume)) && isListed(volumes.was(tenant, volume)))
    yield { subject: volume, message: `was deleted on ${nodeId}, which must hold a copy` }
}

function* forgottenData({ volumes, nodes, world }: Moment): Generator<Broken> {
  for (const { tenant, id, was, is } of volumes.changed) {
    if (was === undefined || is !== undefined) continue
    const listed = new Set([...was.copies, ...(was.leaving ?? [])].map(({ nodeId }) => nodeId))
    for (const { nodeId, name, copies } of world.machines)
      if (
        listed.has(nodeId) &&
        nodes.is(tenant, nodeId) &&
        copies.some((one) => one.volume === id && hasData(one))
      )
        yield { subject: was.spec.name, message: `left the record, and ${name} has data of it` }
  }
}
