// Invariant: the log of a finished job can be read as long as the record of the job exists: the container of its last attempt
// is there, or its log is on the disk of its machine. A node that was removed or enrolled again keeps no logs.

import { type AssignmentId, jobIdOf, type NodeId } from '@holdfast/contract'
import type { SimulatedMachine } from '../../cluster/snapshot.ts'
import type { Invariant } from '../invariant.ts'
import { FINAL } from './ends.ts'

export const jobLogs: Invariant = {
  name: 'job-logs',
  start() {
    const started = new Set<AssignmentId>()
    return function* ({ jobs, world, machinesChanged }) {
      if (jobs.all.length === 0 || !(machinesChanged || jobs.changed.length > 0)) return
      const readable = new Map<NodeId, ReadonlySet<AssignmentId>>()
      for (const machine of world.machines) readable.set(machine.nodeId, readableOn(machine, started))
      for (const { id, record } of jobs.all) {
        const { phase, last, nodeId } = record
        if (!FINAL.has(phase) || last === undefined || !started.has(last) || nodeId === null) continue
        const there = readable.get(nodeId)
        if (there !== undefined && !there.has(last))
          yield { subject: id, message: `is ${phase}, and its node has no log of ${last}` }
      }
    }
  },
}

function readableOn(
  { containers, jobLogs }: SimulatedMachine,
  started: Set<AssignmentId>,
): ReadonlySet<AssignmentId> {
  const found = new Set(jobLogs)
  for (const { owner, assignmentId, startedAt } of containers) {
    if (startedAt === undefined || jobIdOf(owner) === undefined) continue
    started.add(assignmentId)
    found.add(assignmentId)
  }
  return found
}
