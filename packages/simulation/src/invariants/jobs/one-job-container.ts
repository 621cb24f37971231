// Invariant: no two containers of one job run at once. With `onNodeLoss: retry`, the container of an attempt whose node had
// failed when the next one was assigned may still run, and a machine that was removed by force is not managed.

import { type AssignmentId, jobIdOf, type Owner } from '@holdfast/contract'
import type { Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { createLostAttempts } from './lost-attempts.ts'

export const oneJobContainer: Invariant = {
  name: 'one-job-container',
  start() {
    const lost = createLostAttempts()
    /** Assignments of nodes that were removed while they had a container. */
    const unmanaged = new Set<AssignmentId>()
    return function* (moment) {
      lost.note(moment)
      noteUnmanaged(moment, unmanaged)
      if (!moment.machinesChanged) return
      const running = new Map<Owner, string>()
      for (const { name, powered, containers } of moment.world.machines)
        for (const { owner, assignmentId, state, startedAt } of powered ? containers : []) {
          if (jobIdOf(owner) === undefined || lost.has(assignmentId) || unmanaged.has(assignmentId)) continue
          if (state === 'exited' || startedAt === undefined) continue
          const other = running.get(owner)
          if (other !== undefined)
            yield { subject: owner, message: `runs on ${name} as ${assignmentId} and as ${other}` }
          running.set(owner, `${assignmentId} on ${name}`)
        }
    }
  },
}

/** A node that is gone from the records was removed by force, or enrolled again, with what still ran on it. */
function noteUnmanaged({ nodes, world }: Moment, unmanaged: Set<AssignmentId>): void {
  const gone = new Set(nodes.changed.flatMap(({ was, is }) => (is === undefined && was ? [was.name] : [])))
  if (gone.size === 0) return
  for (const { name, containers } of world.machines)
    if (gone.has(name)) for (const { assignmentId } of containers) unmanaged.add(assignmentId)
}
