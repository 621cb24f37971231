// The lineage of a replicated volume: the writes that its primaries have in common. A handover continues it with every
// write. A promotion continues it with the checkpoint of a copy, and the later writes of the old primary leave it.

import type { TenantId } from '@holdfast/contract'
import type { StoredVolume } from '@holdfast/server/store/records'
import type { SimulatedCopy, SimulatedMachine } from '../../cluster/snapshot.ts'
import { includesWrite, type Written } from '../../volumes/written.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Changed, Moment } from '../moment.ts'

const GONE: readonly string[] = ['Lost', 'Deleting']

/** The promotion with which the present epoch of a volume has begun; undefined if it did not change just now. */
export function promotionIn({ was, is }: Changed<StoredVolume>) {
  const newest = is?.promotions?.[0]
  const [before, after] = [was?.primary?.epoch, is?.primary?.epoch]
  return before !== undefined && after !== before && newest?.toEpoch === after ? newest : undefined
}

export const machineOf = (
  { world }: Moment,
  tenant: TenantId | undefined,
  nodeId: string | undefined,
): SimulatedMachine | undefined =>
  world.machines.find((one) => one.tenant === tenant && one.nodeId === nodeId)

export const copyOf = (machine: SimulatedMachine | undefined, volume: string): SimulatedCopy | undefined =>
  machine?.copies.find((copy) => copy.volume === volume)

export function checkpointIn(copy: SimulatedCopy | undefined, sought: StoredVolume['from']) {
  return copy?.checkpoints.find(({ epoch, number }) => epoch === sought?.epoch && number === sought.number)
}

/** The content that a container on the primary reads: the live data, or the checkpoint that becomes it. */
function contentOf({ primary, from }: StoredVolume, copy: SimulatedCopy | undefined): Written | undefined {
  const isRestored = from === undefined || (copy?.live?.isMade && copy.live.epoch >= (primary?.epoch ?? 0))
  return isRestored ? copy?.live?.content : checkpointIn(copy, from)?.content
}

/**
 * Invariant: no acknowledged write into a replicated volume is lost, except by a promotion, and none is mixed with others.
 * The primary has every write of the lineage from the moment at which the record names it. Checkpoints of the present
 * epoch, and with them all promotable copies, are of the lineage. An ephemeral volume keeps every write of its epoch.
 */
export const volumeContent: Invariant = {
  name: 'volume-content',
  start() {
    const heads = new Map<string, Written>()
    const known = new WeakSet<Written>()
    return function* (moment) {
      for (const change of moment.volumes.changed) {
        const head = headAfter(moment, change, heads.get(change.id))
        if (head !== undefined) heads.set(change.id, head)
      }
      for (const { tenant, record } of moment.volumes.all) {
        if (tenant === undefined || GONE.includes(record.phase)) continue
        yield* forkedWrites(moment, record)
        if (record.spec.class !== 'replicated' || record.primary === null) continue
        const newest = moment.world.writes.newest(record.id).get(record.primary.epoch)
        const head = newest ?? heads.get(record.id)
        if (head === undefined) continue
        heads.set(record.id, head)
        yield* lostWrites(moment, tenant, record, head)
        yield* strangeWrites(moment, tenant, record, head, known)
      }
    }
  },
}

/** The end of the lineage after a change of the record. */
function headAfter(
  moment: Moment,
  change: Changed<StoredVolume>,
  known: Written | undefined,
): Written | undefined {
  const { tenant, id, was, is } = change
  if (was?.primary == null || is?.primary == null || was.primary.epoch === is.primary.epoch) return known
  const before = moment.world.writes.newest(is.id).get(was.primary.epoch) ?? known
  if (promotionIn(change) === undefined) return before
  return checkpointIn(copyOf(machineOf(moment, tenant, is.primary.nodeId), id), is.from)?.content ?? before
}

function* forkedWrites({ world }: Moment, { id, spec }: StoredVolume): Generator<Broken> {
  const [fork] = world.writes.forks(id)
  if (fork === undefined) return
  const { write, lacked } = fork
  yield {
    subject: spec.name,
    message: `was written (${write.number}, by ${write.by}) where write ${lacked.number} is missing`,
  }
}

function* lostWrites(
  moment: Moment,
  tenant: TenantId,
  record: StoredVolume,
  head: Written,
): Generator<Broken> {
  // The machine of a node that was removed and enrolled again has another node id; its data is out of reach.
  const machine = machineOf(moment, tenant, record.primary?.nodeId)
  if (machine === undefined) return
  const content = contentOf(record, copyOf(machine, record.id))
  if (content === undefined || !includesWrite(content, head))
    yield {
      subject: record.spec.name,
      message: `lacks write ${head.number} on its primary ${machine.name}, which has ${content?.number ?? 'nothing'}`,
    }
}

/** Bytes of one epoch only: the newest write was made on the primary, and every checkpoint of the epoch precedes it. */
function* strangeWrites(
  moment: Moment,
  tenant: TenantId,
  { id, spec, primary, copies, promotable = [] }: StoredVolume,
  head: Written,
  known: WeakSet<Written>,
): Generator<Broken> {
  const home = machineOf(moment, tenant, primary?.nodeId)
  if (
    home !== undefined &&
    head.epoch === primary?.epoch &&
    head.time !== undefined &&
    head.on !== home.address
  )
    yield {
      subject: spec.name,
      message: `was written in epoch ${head.epoch} on ${head.on}, not on ${home.name}`,
    }
  for (const { nodeId } of copies) {
    const machine = machineOf(moment, tenant, nodeId)
    const own = copyOf(machine, id)?.checkpoints.filter(({ epoch }) => epoch === primary?.epoch) ?? []
    for (const { content, number } of own) {
      if (known.has(content)) continue
      if (includesWrite(head, content)) known.add(content)
      else
        yield { subject: spec.name, message: `has a checkpoint ${number} of other bytes on ${machine?.name}` }
    }
    if (machine !== undefined && promotable.includes(nodeId) && own.length === 0)
      yield {
        subject: spec.name,
        message: `may be promoted on ${machine.name}, which has nothing of its epoch`,
      }
  }
}
