// Simulated agents with volumes that nothing writes. They send what agents at rest send: heartbeats or pings, all copies and
// the pool after each complete set, and the requests by which a primary makes its copies promotable.

import { CALL_VOLUMES, type ConfigureRequest, type DesiredCopy, type OfferedCopy } from '@holdfast/contract'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { enrollVolumeNode, openVolumeAgent, type VolumeAgent } from '@holdfast/testkit/session/volume-agent'

export interface IdleAgents {
  readonly nodeIds: readonly string[]
  /** Whether every session is open. */
  areOpen(): boolean
  /** Requests promotable nodes for all primaries that have none yet. */
  requestPromotable(): Promise<void>
  stop(): void
}

const POOL_BYTES = 2 ** 40
/** An agent that received nothing for so many heartbeat intervals sends a ping instead of a heartbeat. */
const PING_AFTER = 1.2
const HEARTBEAT_MS = 10_000

/** Enrolls the nodes at the server, and opens their sessions at `sessionUrl`. */
export async function startIdleAgents(
  serverUrl: string,
  sessionUrl: string,
  api: ApiClient,
  count: number,
): Promise<IdleAgents> {
  const agents: VolumeAgent[] = []
  const timers: NodeJS.Timeout[] = []
  for (let index = 1; index <= count; index += 1) {
    const node = await enrollVolumeNode(serverUrl, api, `idle-${index}`)
    const agent = await openVolumeAgent(sessionUrl, node, { poolBytes: POOL_BYTES })
    agents.push(agent)
    timers.push(sendHeartbeats(agent))
    reportPool(agent)
  }
  return {
    nodeIds: agents.map(({ nodeId }) => nodeId),
    areOpen: () => agents.every(({ agent }) => agent.closeCode() === undefined),
    requestPromotable: async () => void (await Promise.all(agents.map(requestAll))),
    stop() {
      for (const timer of timers) clearInterval(timer)
      for (const agent of agents) agent.close()
    },
  }
}

function sendHeartbeats({ agent }: VolumeAgent): NodeJS.Timeout {
  const { socket, session, heard } = agent
  const everyMs = heard.find((message) => message.type === 'welcome')?.heartbeatMs ?? HEARTBEAT_MS
  let lastReceivedAt = performance.now()
  const noteReceived = (): void => {
    lastReceivedAt = performance.now()
  }
  socket.on('message', noteReceived)
  socket.on('pong', noteReceived)
  return setInterval(() => {
    if (agent.closeCode() !== undefined) return
    if (performance.now() - lastReceivedAt > PING_AFTER * everyMs) socket.ping()
    else agent.send({ type: 'heartbeat', session })
  }, everyMs)
}

/** Reports the pool at once, after each change of the copies, and again after each complete set. */
function reportPool({ agent, copies }: VolumeAgent): void {
  const storage = { poolBytes: POOL_BYTES, usedBytes: 0 }
  let last = ''
  const report = (isComplete: boolean): void => {
    const pool = { storage, copies: [...copies.values()].map(offerOf), quarantined: [] }
    const next = JSON.stringify(pool)
    if (!isComplete && next === last) return
    last = next
    agent.send({ type: 'status', session: agent.session, observations: [], pool })
  }
  report(true)
  agent.socket.on('message', (data, isBinary) => {
    const { type } = isBinary ? { type: '' } : JSON.parse(String(data))
    if (type === 'complete' || type === 'delta') report(type === 'complete')
  })
}

const offerOf = ({ volume, epoch, role }: DesiredCopy): OfferedCopy => ({
  volume,
  epoch,
  role,
  checkpoint: { epoch, number: 1 },
})

async function requestAll(agent: VolumeAgent): Promise<void> {
  const requests = [...agent.copies.values()].flatMap(missingRequests)
  for (let at = 0; at < requests.length; at += CALL_VOLUMES)
    await agent.configure(requests.slice(at, at + CALL_VOLUMES))
}

function missingRequests({
  volume,
  epoch,
  role,
  peers,
  cv,
  promotable = [],
}: DesiredCopy): ConfigureRequest[] {
  const nodeId = peers.find((peer) => !promotable.includes(peer))
  if (role !== 'primary' || cv === undefined || nodeId === undefined) return []
  return [{ kind: 'grow', volume, epoch, cv, nodeId }]
}
