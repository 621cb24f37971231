// Invariant: a job has at most one attempt more than its retries, each with an assignment of its own that is started at
// most once, and fails only when none is left. Attempts that `onNodeLoss: retry` abandons with their node are not counted.

import { type AssignmentId, jobIdOf, ownerOf } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import { newAssignments, showPlaced } from '../placement/assigned.ts'
import { createLostAttempts } from './lost-attempts.ts'

export const jobAttempts: Invariant = {
  name: 'job-attempts',
  start() {
    const startedAt = new Map<AssignmentId, number>()
    const assigned = new Map<string, number>()
    const lost = createLostAttempts()
    return function* (moment) {
      lost.note(moment)
      for (const placed of newAssignments(moment)) {
        const { tenant, placement } = placed
        const id = jobIdOf(placement.owner)
        if (id === undefined) continue
        const job = moment.jobs.is(tenant, id) ?? moment.jobs.was(tenant, id)
        const attempts = (assigned.get(id) ?? 0) + 1
        assigned.set(id, attempts)
        if (job === undefined) {
          yield { subject: showPlaced(placed), message: 'is an attempt of no job' }
          continue
        }
        const most = job.spec.retries + 1 + lost.countOf(job.id)
        if (attempts > most)
          yield { subject: showPlaced(placed), message: `is attempt ${attempts} of ${most}` }
        if (job.cancelled) yield { subject: showPlaced(placed), message: 'is an attempt of a cancelled job' }
      }
      for (const { is } of moment.jobs.changed) {
        if (is === undefined) continue
        const { failures, phase, spec } = is
        if (failures > spec.retries + 1 || (phase === 'failed' && failures <= spec.retries))
          yield {
            subject: ownerOf('job', is.id),
            message: `is ${phase} after ${failures} failed attempts, with ${spec.retries} retries`,
          }
      }
      if (!moment.machinesChanged) return
      for (const { containers } of moment.world.machines)
        for (const { owner, assignmentId, startedAt: at } of containers) {
          if (at === undefined || jobIdOf(owner) === undefined) continue
          if ((startedAt.get(assignmentId) ?? at) !== at)
            yield { subject: owner, message: `${assignmentId} was started twice` }
          startedAt.set(assignmentId, at)
        }
    }
  },
}
