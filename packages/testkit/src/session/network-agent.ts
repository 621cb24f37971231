// An agent that has networks in memory: it reports each desired network as present or removed, unless the test scripts
// another report.

import type { DesiredNetwork, NetworkId, NodeId, ObservedNetwork, ServerMessage } from '@holdfast/contract'
import { AGENT_CAPABILITIES } from '@holdfast/contract'
import { type OpenAgent, openRaw } from './raw-agent.ts'
import type { EnrolledVolumeNode } from './volume-agent.ts'

type Report = (network: DesiredNetwork) => ObservedNetwork | undefined

export interface NetworkAgent {
  readonly nodeId: NodeId
  readonly agent: OpenAgent
  readonly networks: ReadonlyMap<NetworkId, DesiredNetwork>
  /** Changes what the agent reports about every network from now on; undefined reports nothing. */
  behave(report: Report): void
  close(): void
}

/** The report of an agent that does at once what is desired. */
export const connect: Report = ({ id, desired }) => ({ id, state: desired, reason: '' })

export async function openNetworkAgent(
  baseUrl: string,
  node: EnrolledVolumeNode,
  {
    report: first = connect,
    capabilities = AGENT_CAPABILITIES,
  }: { readonly report?: Report; readonly capabilities?: readonly string[] } = {},
): Promise<NetworkAgent> {
  const networks = new Map<NetworkId, DesiredNetwork>()
  let report = first
  const agent = await openRaw(baseUrl, { ...node, generation: 1 }, { capabilities: [...capabilities] })
  const reportAll = () => {
    const observed = [...networks.values()].flatMap((network) => report(network) ?? [])
    agent.send({ type: 'status', session: agent.session, observations: [], networks: observed })
  }
  const hear = (message: ServerMessage): void => {
    if (message.type !== 'complete' && message.type !== 'delta') return
    if (message.type === 'complete' && message.networks !== undefined) networks.clear()
    for (const network of message.networks ?? []) networks.set(network.id, network)
    const gone = message.type === 'delta' ? (message.goneNetworks ?? []) : []
    for (const id of networks.keys()) if (gone.includes(id)) networks.delete(id)
    reportAll()
  }
  for (const message of agent.heard) hear(message)
  agent.socket.on('message', (data, isBinary) => {
    if (!isBinary) hear(JSON.parse(String(data)))
  })
  return {
    nodeId: node.nodeId,
    agent,
    networks,
    behave(next) {
      report = next
      reportAll()
    },
    close: () => agent.close(),
  }
}
