// An agent that runs the containers of jobs in memory, as the test scripts each attempt. It keeps the containers that
// exist, so that a test sees two of them at once.

import {
  AGENT_CAPABILITIES,
  type AssignmentId,
  type NodeId,
  type Observation,
  type SentItem,
  type ServerMessage,
} from '@holdfast/contract'
import { type OpenAgent, openRaw } from './raw-agent.ts'
import type { EnrolledVolumeNode } from './volume-agent.ts'

/** The course of an attempt: its container runs until it is stopped, or ends with a code; `silent` reports nothing. */
export type Attempt = 'run' | 'silent' | { readonly exit: number }

export interface JobAgent {
  readonly nodeId: NodeId
  readonly agent: OpenAgent
  /** All assignments that were sent to the agent, in order. */
  readonly sent: readonly AssignmentId[]
  /** The containers that run now. */
  readonly running: ReadonlySet<AssignmentId>
  /** The largest number of containers that ran at once. */
  most(): number
  /** The attempts whose logs the server last asked the node to keep. */
  keptLogs(): readonly AssignmentId[] | undefined
  close(): void
}

export async function openJobAgent(
  baseUrl: string,
  node: EnrolledVolumeNode,
  script: (attempt: number) => Attempt,
  capabilities: readonly string[] = AGENT_CAPABILITIES,
): Promise<JobAgent> {
  const agent = await openRaw(baseUrl, { ...node, generation: 1 }, { capabilities: [...capabilities] })
  const ended = new Map<AssignmentId, number>()
  const stopped = new Set<AssignmentId>()
  const running = new Set<AssignmentId>()
  const sent: AssignmentId[] = []
  let [seq, most] = [0, 0]
  let kept: readonly AssignmentId[] | undefined
  const observe = (item: SentItem, over: Partial<Observation>): Observation => {
    seq += 1
    return {
      ...{ assignmentId: item.assignmentId, generation: item.generation, seq, restarts: 0, reason: '' },
      ...{ containerId: 'c', startedAt: new Date().toISOString(), exitCode: null, gone: false },
      state: 'running',
      ...over,
    }
  }
  const end = (item: SentItem): Observation => {
    const code = ended.get(item.assignmentId) ?? 0
    const gone = item.desired === 'removed'
    // An agent reports the last exit only of a container that it did not stop.
    const lastExit = stopped.has(item.assignmentId)
      ? {}
      : { lastExit: { code, at: new Date().toISOString() } }
    return observe(item, {
      state: 'stopped',
      exitCode: code,
      ...lastExit,
      gone,
      reason: code === 0 ? '' : 'exited',
    })
  }
  const start = (item: SentItem): Observation[] => {
    const { assignmentId } = item
    if (!sent.includes(assignmentId)) sent.push(assignmentId)
    const does = script(sent.indexOf(assignmentId) + 1)
    if (does === 'silent') return []
    running.add(assignmentId)
    most = Math.max(most, running.size)
    if (does === 'run') return [observe(item, {})]
    running.delete(assignmentId)
    ended.set(assignmentId, does.exit)
    return [end(item)]
  }
  const act = (item: SentItem): Observation[] => {
    if (item.desired === 'running' && !ended.has(item.assignmentId)) return start(item)
    if (running.delete(item.assignmentId)) {
      ended.set(item.assignmentId, 143)
      stopped.add(item.assignmentId)
    }
    return [end(item)]
  }
  const hear = (message: ServerMessage): void => {
    if (message.type !== 'complete' && message.type !== 'delta') return
    if (message.type === 'complete') kept = message.jobLogs
    const observations = message.items.flatMap(act)
    if (observations.length > 0) agent.send({ type: 'status', session: agent.session, observations })
  }
  for (const message of agent.heard) hear(message)
  agent.socket.on('message', (data, isBinary) => {
    if (!isBinary) hear(JSON.parse(String(data)))
  })
  const nodeId = node.nodeId
  return {
    ...{ nodeId, agent, sent, running, most: () => most, keptLogs: () => kept },
    close: () => agent.close(),
  }
}
