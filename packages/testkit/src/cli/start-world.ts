// A platform with controllers and agents that report every container as ready, for CLI tests of running deployments. The agents
// have no engine; real containers are tested on the lab.

import type { NodeId } from '@holdfast/contract'
import {
  makeSimulatedKeys,
  type SimulatedAgents,
  type SimulatedAgentsOptions,
  type SimulatedNode,
  startSimulatedAgents,
} from '@holdfast/testkit'
import { makeNode } from '../nodes/enroll.ts'
import { ownPlatform } from '../platform/shared-platform.ts'
import type { Platform } from '../platform/start-platform.ts'
import { untilNodesReady } from '../scenarios/lab-agents.ts'
import { type CliOptions, type CliRun, runCli } from './run-cli.ts'

export interface CliWorld {
  readonly platform: Platform
  readonly agents: SimulatedAgents
  /** Runs the CLI as the administrator of tenant acme. */
  cli(words: readonly string[], options?: CliOptions): Promise<CliRun>
  stop(): Promise<void>
}

const ROLES = ['api', 'broker', 'controllers', 'gateway']

export async function startCliWorld(
  nodeNames: readonly string[],
  options: Pick<SimulatedAgentsOptions, 'usage' | 'report' | 'capabilities'> = {},
): Promise<CliWorld> {
  const platform = await ownPlatform({ settings: { roles: ROLES } })
  const api = platform.api(platform.acme.token)
  const nodes: SimulatedNode[] = []
  for (const name of nodeNames) {
    const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
    const nodeId = await makeNode(platform.baseUrl, api, name, { sent: { publicKey, encryptionKey } })
    nodes.push({ nodeId: nodeId as NodeId, generation: 1, identityKey })
  }
  const agents = await startSimulatedAgents({ url: platform.baseUrl, nodes, report: true, ...options })
  await untilNodesReady(api, nodes.length)
  const env = { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token }
  return {
    platform,
    agents,
    cli: (words, options = {}) => runCli(words, { ...options, env: { ...env, ...options.env } }),
    async stop() {
      agents.close()
      await platform.stop()
    },
  }
}
