// Invariants: a container writes a volume only under the claim that names it, and no two containers that are alive write
// one volume. A replicated volume has never two writers. An ephemeral volume that was created again elsewhere may have a
// former writer on its old node, which had failed or was removed: it writes the old copy, never the new one.

import type { AssignmentId, TenantId, VolumeId } from '@holdfast/contract'
import type { SimulatedContainer, SimulatedMachine } from '../../cluster/snapshot.ts'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { THAW_MS } from './promotions.ts'

interface Writer {
  readonly machine: SimulatedMachine
  readonly container: SimulatedContainer
  readonly volume: VolumeId
}

/** A container that never started, for example because its machine lost the power before, has written nothing. */
const isAlive = ({ state, startedAt }: SimulatedContainer): boolean =>
  state !== 'exited' && startedAt !== undefined

/** The containers that write now, on all machines with power that are not frozen and were not until just now. */
function writersIn({ world }: Moment): Writer[] {
  return world.machines
    .filter(({ powered }) => powered)
    .filter(({ frozen, thawedAt }) => !frozen && world.now > thawedAt + THAW_MS)
    .flatMap((machine) =>
      machine.containers
        .filter(isAlive)
        .flatMap((container) => container.writes.map((volume) => ({ machine, container, volume }))),
    )
}

export const writerClaims: Invariant = {
  name: 'writer-claims',
  start() {
    const assigned = new Map<AssignmentId, string>()
    return function* (moment) {
      for (const { is } of moment.placements.changed)
        for (const { id, nodeId } of is?.assignments ?? []) assigned.set(id, nodeId)
      yield* replacedClaims(moment)
      for (const writer of writersIn(moment))
        if (assigned.get(writer.container.assignmentId) === writer.machine.nodeId)
          yield* unclaimed(moment, writer)
    }
  },
}

/** A claim of one workload never becomes that of another one. */
function* replacedClaims({ volumeWriters }: Moment): Generator<Broken> {
  for (const { id, was, is } of volumeWriters.changed) {
    if (is !== undefined && is.volume !== id) yield { subject: id, message: `is claimed as ${is.volume}` }
    if (was !== undefined && is !== undefined && was.owner !== is.owner)
      yield {
        subject: id,
        message: `has the claim of ${is.name}, before its claim of ${was.name} was deleted`,
      }
  }
}

/**
 * A writer on the node of the primary must be named by the claim. On a node that was removed by force no server knows it,
 * and on another node than the primary's its epoch is over.
 */
function* unclaimed({ nodes, volumes, volumeWriters }: Moment, writer: Writer): Generator<Broken> {
  const { machine, container, volume } = writer
  const { tenant, nodeId, name } = machine
  if (nodes.is(tenant, nodeId) === undefined) return
  if (volumes.is(tenant, volume)?.primary?.nodeId !== nodeId) return
  const claim = volumeWriters.is(tenant, volume)
  if (claim?.owner !== container.owner || claim.assignmentId !== container.assignmentId)
    yield {
      subject: volume,
      message: `is written by ${container.assignmentId} on ${name}, and its claim names ${
        claim === undefined ? 'nothing' : `${claim.assignmentId ?? 'no assignment'} of ${claim.name}`
      }`,
    }
}

export const oneWriter: Invariant = {
  name: 'one-writer',
  start: () =>
    function* (moment) {
      yield* recreatedInUse(moment)
      const found = Map.groupBy(writersIn(moment), ({ volume }) => volume)
      for (const [volume, writers] of found) if (writers.length > 1) yield* tooMany(moment, volume, writers)
    },
}

/** An ephemeral volume leaves a node with its last writer, unless the node has failed or was removed. */
function* recreatedInUse(moment: Moment): Generator<Broken> {
  for (const { tenant, id, was, is } of moment.volumes.changed) {
    const from = was?.primary?.nodeId
    if (from === undefined || is === undefined || is.primary?.nodeId === from) continue
    const isGone = [moment.nodes.is(tenant, from), moment.nodes.was(tenant, from)].some(
      (node) => node === undefined || node.status === 'failed',
    )
    const left = writersIn(moment).find(({ volume, machine }) => volume === id && machine.nodeId === from)
    if (left !== undefined && !isGone)
      yield {
        subject: is.spec.name,
        message: `left ${left.machine.name}, where ${left.container.assignmentId} writes it`,
      }
  }
}

function* tooMany({ volumes }: Moment, volume: VolumeId, writers: readonly Writer[]): Generator<Broken> {
  const [first] = writers
  const tenant: TenantId | undefined = first?.machine.tenant
  const isEphemeral = volumes.is(tenant, volume)?.spec.class === 'ephemeral'
  const machines = new Set(writers.map(({ machine }) => machine.name))
  if (isEphemeral && machines.size === writers.length) return
  const shown = writers.map(({ machine, container }) => `${container.assignmentId} on ${machine.name}`)
  yield { subject: volume, message: `is written by ${shown.join(' and ')}` }
}
