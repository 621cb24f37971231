// Invariants: a job ends exactly once, in a state that never changes, with one event, and then holds no slot. At the end of
// a simulation every job has ended, or states why it has not.

import { jobIdOf, ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredJob } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'

export const FINAL: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled'])
const FINAL_EVENTS: ReadonlySet<string> = new Set(['job.succeeded', 'job.failed', 'job.cancelled'])

/** The members that say how a job ended. */
const endOf = ({ phase, reason, exitCode, attempts, finishedAt }: StoredJob): string =>
  JSON.stringify([phase, reason, exitCode, attempts, finishedAt])

export const jobEnds: Invariant = {
  name: 'job-ends',
  start() {
    const ended = new Map<string, number>()
    return function* (moment) {
      for (const { id, was, is } of moment.jobs.changed) {
        if (was !== undefined && FINAL.has(was.phase) && is !== undefined && endOf(was) !== endOf(is))
          yield { subject: id, message: `ended as ${endOf(was)} and is now ${endOf(is)}` }
        if (was !== undefined && is === undefined && !FINAL.has(was.phase))
          yield { subject: id, message: `is gone in phase ${was.phase}` }
      }
      for (const { is } of moment.events.changed) {
        if (is === undefined || !FINAL_EVENTS.has(is.type)) continue
        const { uid } = is.subject
        ended.set(uid, (ended.get(uid) ?? 0) + 1)
        if (ended.get(uid) !== 1) yield { subject: uid, message: `has a second final event: ${is.type}` }
      }
      if (moment.jobs.changed.length > 0 || moment.slots.changed.length > 0) yield* wrongSlots(moment)
    }
  },
}

/** A job holds a slot exactly until it ends. */
function* wrongSlots({ jobs, slots, world }: Moment): Generator<Broken> {
  for (const { record: tenant } of world.tenants) {
    const own = jobs.all.filter((kept) => kept.tenant === tenant.id)
    for (const { id, record } of own)
      if (FINAL.has(record.phase) !== (record.slot === null))
        yield { subject: id, message: `is ${record.phase} and has the slot ${record.slot}` }
    const held = own.flatMap(({ record }) => (record.slot === null ? [] : `jobs_running/${record.slot}`))
    const taken = slotsOf(slots, tenant.id)
    if (held.sort().join() !== taken.sort().join())
      yield {
        subject: tenant.id,
        message: `has slots ${taken.join(' ')}, and its jobs hold ${held.join(' ')}`,
      }
  }
}

const slotsOf = (slots: Moment['slots'], tenant: TenantId): string[] =>
  slots.all
    .filter((kept) => kept.tenant === tenant && kept.id.startsWith('jobs_running/'))
    .map(({ id }) => id)

export const jobsSettled: Invariant = {
  name: 'jobs-settled',
  atEnd: true,
  start: () =>
    function* (moment) {
      const running = new Set(
        moment.world.machines
          .filter(({ tenant, nodeId }) => moment.nodes.is(tenant, nodeId) !== undefined)
          .flatMap(({ containers }) => containers)
          .filter(({ owner, state }) => jobIdOf(owner) !== undefined && state !== 'exited')
          .map(({ owner }) => owner),
      )
      for (const { id, record } of moment.jobs.all) {
        const isRunning = running.has(ownerOf('job', record.id))
        if (FINAL.has(record.phase)) {
          if (isRunning) yield { subject: id, message: `is ${record.phase}, and its container runs` }
          continue
        }
        if (record.reason === '' && !isRunning)
          yield { subject: id, message: `is ${record.phase} without a reason and without a container` }
        if (record.cancelled) yield { subject: id, message: 'was cancelled and has not ended' }
      }
    },
}
