// Lists containers as parts of the agent need them: those of the node's assignments that run, and all of the machine.

import type { AssignmentId, MachineContainer } from '@holdfast/contract'
import { readOwnLabels } from '@holdfast/core/node'
import type { Engine } from '../ports/engine.ts'
import type { NodeState } from '../state/node-state.ts'
import type { RunningContainer } from '../usage/sample-node.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

/** The containers that run as far as the agent knows. One that has just ended cannot be read and is counted as such. */
export const listRunning = (ids: Iterable<AssignmentId>, statuses: ReplicaStatusTable): RunningContainer[] =>
  [...ids].flatMap((id) => {
    const seen = statuses.view(id)?.container
    if (typeof seen !== 'object' || seen.state !== 'running') return []
    return [{ id, containerId: seen.id, pid: seen.pid }]
  })

/** Lists every container of the machine, including those that Holdfast did not create, without their environments. */
export async function listMachine(
  engine: Pick<Engine, 'listContainers'>,
  { tenant }: Pick<NodeState, 'tenant'>,
  statuses: ReplicaStatusTable,
): Promise<MachineContainer[]> {
  const listed = await engine.listContainers()
  return listed.map(({ id, name, image, state, labels }) => {
    const own = readOwnLabels(labels, tenant)
    const seen = own === undefined ? undefined : statuses.view(own.assignmentId)?.container
    const startedAt = typeof seen === 'object' && seen.id === id ? seen.startedAt : null
    return { id, name, image, state, startedAt, ours: own !== undefined }
  })
}
