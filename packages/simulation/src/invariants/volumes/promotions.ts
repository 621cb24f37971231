// Invariants of promotions: what a promotion may lose, what it says about the loss, and what becomes of the bytes that it
// leaves behind.

import { type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredDeployment, StoredVolume } from '@holdfast/server/store/records'
import type { SimulatedMachine } from '../../cluster/snapshot.ts'
import { type Acknowledgment, includesWrite, type Written } from '../../volumes/written.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { checkpointIn, copyOf, machineOf, promotionIn } from './lineage.ts'

/** A machine that was frozen whole may write for this time after it continues. */
export const THAW_MS = 300

/** A promoted volume, with the checkpoint with which it continues. */
interface Promoted {
  readonly tenant: TenantId
  readonly was: StoredVolume
  readonly is: StoredVolume
  readonly promotion: NonNullable<ReturnType<typeof promotionIn>>
  readonly to: SimulatedMachine
  readonly from: NonNullable<ReturnType<typeof checkpointIn>>
}

function* promotedIn(moment: Moment): Generator<Promoted> {
  for (const change of moment.volumes.changed) {
    const { tenant, was, is } = change
    const promotion = promotionIn(change)
    if (tenant === undefined || was === undefined || is === undefined || promotion === undefined) continue
    const to = machineOf(moment, tenant, is.primary?.nodeId)
    const from = checkpointIn(copyOf(to, is.id), is.from)
    if (to !== undefined && from !== undefined) yield { tenant, was, is, promotion, to, from }
  }
}

/**
 * Invariant: a checkpoint of a group that every promotable node has acknowledged for every volume is in whatever is promoted
 * later in that epoch.
 */
export const acknowledgedKept: Invariant = {
  name: 'acknowledged-kept',
  start() {
    const floors = new Map<string, Acknowledgment>()
    return function* (moment) {
      for (const { tenant, was, from, to, is } of promotedIn(moment)) {
        const floor = floors.get(is.id)
        const isOfEpoch = floor !== undefined && floor.epoch === was.primary?.epoch
        if (
          isOfEpoch &&
          isWholeGroup(moment, tenant, was, floor, floors) &&
          !includesWrite(from.content, floor.content)
        )
          yield {
            subject: is.spec.name,
            message: `is promoted on ${to.name} from ${from.number}, and every copy had acknowledged ${floor.number}`,
          }
      }
      for (const { record } of moment.volumes.all) {
        const floor = acknowledgedByAll(moment, record)
        if (floor !== undefined && floor.number > numberIn(floors.get(record.id), floor.epoch))
          floors.set(record.id, floor)
      }
    }
  },
}

const numberIn = (floor: Acknowledgment | undefined, epoch: number): number =>
  floor?.epoch === epoch ? floor.number : 0

/** The newest checkpoint that all promotable nodes have acknowledged in the present epoch. */
function acknowledgedByAll(
  { world }: Moment,
  { id, primary, promotable = [] }: StoredVolume,
): Acknowledgment | undefined {
  const all = world.writes.acknowledged(id)
  const found = promotable.map((nodeId) => all.get(nodeId))
  if (found.some((one) => one?.epoch !== primary?.epoch)) return undefined
  return found.reduce(
    (least, one) => (least !== undefined && least.number <= (one?.number ?? 0) ? least : one),
    undefined,
  )
}

/** Whether every other volume of the writer has acknowledged the same number. */
function isWholeGroup(
  moment: Moment,
  tenant: TenantId,
  volume: StoredVolume,
  { number }: Acknowledgment,
  floors: ReadonlyMap<string, Acknowledgment>,
): boolean {
  return groupOf(moment, tenant, volume.id).every((id) => (floors.get(id)?.number ?? 0) >= number)
}

/**
 * The volumes that the deployments which write a volume write, by their specs of the previous moment or with the containers
 * that their placements listed.
 */
function groupOf(moment: Moment, tenant: TenantId, id: string): string[] {
  const { deployments } = moment
  const written = deployments.all
    .filter((kept) => kept.tenant === tenant)
    .map((kept) => deployments.was(kept.tenant, kept.id))
    .map((was) =>
      was === undefined ? [] : [...(was.spec.volumes ?? []), ...placedMounts(moment, tenant, was)],
    )
    .map((mounts) => mounts.filter(({ type, readOnly }) => type !== 'tmpfs' && !readOnly))
    .map((mounts) => mounts.map(({ volume }) => volume))
  return [...new Set([id, ...written.filter((group) => group.some((each) => each === id)).flat()])]
}

/** The mounts of containers on the node of a primary that they write. Others can no longer write. */
function placedMounts({ placements, volumes }: Moment, tenant: TenantId, { uid }: StoredDeployment) {
  const { assignments = [], templates = {} } = placements.was(tenant, ownerOf('deployment', uid)) ?? {}
  return assignments.flatMap(({ nodeId, templateHash }) => {
    const { mounts = [] } = templates[templateHash] ?? {}
    const isHome = mounts.some(
      ({ volume, readOnly }) => !readOnly && volumes.was(tenant, volume)?.primary?.nodeId === nodeId,
    )
    return isHome ? mounts : []
  })
}

/** Invariant: the volumes of one writer are promoted together, to one node, from one common state. */
export const groupTogether: Invariant = {
  name: 'group-together',
  start: () =>
    function* (moment) {
      const promoted = [...promotedIn(moment)]
      for (const one of promoted)
        for (const id of groupOf(moment, one.tenant, one.is.id)) yield* apart(moment, one, promoted, id)
    },
}

function* apart(moment: Moment, one: Promoted, promoted: readonly Promoted[], id: string): Generator<Broken> {
  const before = moment.volumes.was(one.tenant, id)
  const isMember = before?.spec.class === 'replicated' && before.primary?.nodeId === one.was.primary?.nodeId
  if (!isMember) return
  const other = promoted.find(({ is }) => is.id === id)
  const subject = one.is.spec.name
  if (other?.to.nodeId !== one.to.nodeId)
    yield { subject, message: `is promoted on ${one.to.name} without ${before.spec.name}` }
  else if (other.from.takenAt.boot !== one.from.takenAt.boot || other.from.takenAt.ms !== one.from.takenAt.ms)
    yield { subject, message: `is promoted from another moment than ${before.spec.name}` }
}

/** Invariant: only a promotable copy is promoted, and the stated loss is at least the true one. */
export const lossStated: Invariant = {
  name: 'loss-stated',
  start: () =>
    function* (moment) {
      for (const one of promotedIn(moment)) {
        const { was, is, to, promotion } = one
        const isForced = promotion.cause === 'forced'
        if (!isForced && was.promotable?.includes(to.nodeId) !== true)
          yield { subject: is.spec.name, message: `is promoted on ${to.name}, which was not promotable` }
        const last = lastLost(moment, one)
        if (promotion.lossMs === null || last?.time === undefined) continue
        const { takenAt } = one.from
        const lostMs =
          last.time.boot === takenAt.boot ? last.time.clockMs - takenAt.ms : Number.POSITIVE_INFINITY
        if (lostMs > promotion.lossMs)
          yield {
            subject: is.spec.name,
            message: `lost ${lostMs} ms of writes, and ${promotion.lossMs} are stated`,
          }
      }
    },
}

/** The newest write that a promotion left behind, apart from those of a machine that was frozen. */
function lastLost(moment: Moment, { tenant, was, from }: Promoted): Written | undefined {
  const machine = machineOf(moment, tenant, was.primary?.nodeId)
  const isStale = ({ time }: Written): boolean =>
    machine !== undefined &&
    time !== undefined &&
    time.atMs >= machine.thawedAt &&
    time.atMs <= machine.thawedAt + THAW_MS
  let last = moment.world.writes.newest(was.id).get(was.primary?.epoch ?? 0)
  while (last !== undefined && isStale(last)) last = last.before
  return last === undefined || includesWrite(from.content, last) ? undefined : last
}

interface Divergence {
  readonly tenant: TenantId
  readonly volume: StoredVolume
  readonly nodeId: NodeId
  readonly write: Written
}

/**
 * Invariant: writes that a promotion left behind stay on the old primary, as its live data or in quarantine, until the copy
 * or the volume is deleted.
 */
export const divergenceKept: Invariant = {
  name: 'divergence-kept',
  start() {
    const kept = new Map<string, Divergence>()
    return function* (moment) {
      for (const one of promotedIn(moment)) {
        const { tenant, was: volume } = one
        const write = moment.world.writes.newest(volume.id).get(volume.primary?.epoch ?? 0)
        if (write !== undefined && !includesWrite(one.from.content, write) && volume.primary !== null)
          kept.set(`${volume.id}/${volume.primary.epoch}`, {
            tenant,
            volume,
            nodeId: volume.primary.nodeId,
            write,
          })
      }
      for (const [key, one] of kept) {
        if (isReleased(moment, one)) kept.delete(key)
        else yield* dropped(moment, one)
      }
    }
  },
}

/** Whether the server no longer wants the data: the copy, the volume or the node is gone. */
function isReleased({ volumes, nodes }: Moment, { tenant, volume, nodeId }: Divergence): boolean {
  const record = volumes.is(tenant, volume.id)
  const isListed = record?.copies.some((copy) => copy.nodeId === nodeId) === true
  return !isListed || record?.phase === 'Deleting' || nodes.is(tenant, nodeId) === undefined
}

function* dropped(moment: Moment, { tenant, volume, nodeId, write }: Divergence): Generator<Broken> {
  const machine = machineOf(moment, tenant, nodeId)
  const copy = copyOf(machine, volume.id)
  if (machine === undefined) return
  const contents = [copy?.live?.content, ...(copy?.quarantined ?? []).map(({ content }) => content)]
  if (!contents.some((content) => includesWrite(content, write)))
    yield {
      subject: volume.spec.name,
      message: `lost write ${write.number} on ${machine.name}, which no node has`,
    }
}
