// Starts the nodes of the development platform: three machines of acme and two of globex, each with its own Docker
// Engine, Caddy and agent. They need root for their network namespaces; without root the platform starts without nodes.

import { type Lab, type LabNode, startLab } from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { createLabAgents, type LabAgents, untilNodesReady } from '@holdfast/testkit/scenarios/lab-agents'
import type { DevTenant } from './create-tenants.ts'
import type { RunningServer } from './start-server.ts'
import type { Step } from './step.ts'

const NODES = { acme: 3, globex: 2 }
/** The country in the join token of each node. */
const COUNTRIES: { readonly [node: string]: string } = {
  'acme-1': 'DE',
  'acme-2': 'FR',
  'acme-3': 'US',
  'globex-1': 'DE',
  'globex-2': 'AT',
}

export interface DevNode {
  readonly id: string
  readonly name: string
  readonly tenant: string
  readonly address: string
  /** The address at which the node's Caddy serves routes. */
  readonly edge: string
  /** The node's Docker socket, for `docker --host`. */
  readonly engine: string
}

export interface DevMachines {
  readonly lab: Lab
  readonly agents: LabAgents
}

export async function startMachines(step: Step): Promise<DevMachines | undefined> {
  if (process.getuid?.() !== 0) {
    await step('no nodes, because they need root', async () => {})
    return undefined
  }
  const agents = createLabAgents()
  const { startAgent } = agents
  const start = () => startLab({ tenants: Object.keys(NODES), nodesPerTenant: NODES, startAgent })
  return { agents, lab: await step('five machines with Docker Engines, old and new, and Caddies', start) }
}

export async function enrollNodes(
  machines: DevMachines | undefined,
  { baseUrl }: RunningServer,
  tenants: readonly DevTenant[],
): Promise<DevNode[]> {
  if (machines === undefined) return []
  const { lab, agents } = machines
  const enroll = async (node: LabNode): Promise<DevNode> => {
    const token = tenants.find(({ name }) => name === node.tenant)?.token
    const country = COUNTRIES[node.name]
    const offer = country === undefined ? {} : { residency: { country } }
    const id = await agents.enroll(node, createApiClient(baseUrl, token), { server: baseUrl }, offer)
    await lab.restartAgent(node)
    const { name, tenant, address, socketPath } = node
    return { id, name, tenant, address, edge: `http://${address}`, engine: `unix://${socketPath}` }
  }
  const nodes = await Promise.all(lab.nodes.map(enroll))
  for (const { name, token } of tenants)
    await untilNodesReady(
      createApiClient(baseUrl, token),
      nodes.filter(({ tenant }) => tenant === name).length,
    )
  return nodes
}
