// Invariant: no acknowledged write into a replicated volume is lost, and none is mixed with others. The primary has every
// write of every container, also after a planned handover, from the moment at which the record names it. An ephemeral
// volume starts empty with each epoch, and keeps every write of its epoch.

import type { TenantId } from '@holdfast/contract'
import type { StoredVolume } from '@holdfast/server/store/records'
import type { SimulatedCopy } from '../../cluster/snapshot.ts'
import { includesWrite, type Written } from '../../volumes/written.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'

const GONE: readonly string[] = ['Lost', 'Deleting']

export const volumeContent: Invariant = {
  name: 'volume-content',
  start: () =>
    function* (moment) {
      for (const { tenant, record } of moment.volumes.all)
        if (tenant !== undefined && !GONE.includes(record.phase)) yield* lostWrites(moment, tenant, record)
    },
}

function* lostWrites(moment: Moment, tenant: TenantId, record: StoredVolume): Generator<Broken> {
  const { id, spec, primary } = record
  const { writes, machines } = moment.world
  const isReplicated = spec.class === 'replicated'
  const fork = writes.forks(id).find(({ write, lacked }) => isReplicated || write.epoch === lacked.epoch)
  if (fork !== undefined)
    yield {
      subject: spec.name,
      message: `was written (${fork.write.number}, by ${fork.write.by}) where write ${fork.lacked.number} is missing`,
    }
  const newest = writes.newest(id)
  if (!isReplicated || newest === undefined || primary === null) return
  // The machine of a node that was removed and enrolled again has another node id; its data is out of reach.
  const machine = machines.find((one) => one.tenant === tenant && one.nodeId === primary.nodeId)
  if (machine === undefined) return
  const content = contentOf(
    record,
    machine.copies.find(({ volume }) => volume === id),
  )
  if (content === undefined || !includesWrite(content, newest))
    yield {
      subject: spec.name,
      message: `lacks write ${newest.number} on its primary ${machine.name}, which has ${content?.number ?? 'nothing'}`,
    }
}

/** The content that a container on the primary reads: the live data, or the checkpoint that becomes it. */
function contentOf({ primary, from }: StoredVolume, copy: SimulatedCopy | undefined): Written | undefined {
  const isRestored = from === undefined || (copy?.live?.isMade && copy.live.epoch >= (primary?.epoch ?? 0))
  if (isRestored) return copy?.live?.content
  return copy?.checkpoints.find(({ epoch, number }) => epoch === from.epoch && number === from.number)
    ?.content
}

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

const hasData = ({ live, checkpoints }: SimulatedCopy): boolean =>
  live?.isMade === true || checkpoints.length > 0

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
