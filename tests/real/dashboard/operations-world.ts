// A platform with the built dashboard for the tasks of operators. Its machines are simulated agents over the real protocol,
// whose containers log in at a target 20 times a second, each with the version of the password that it was created with.

import { rmSync } from 'node:fs'
import { type AssignmentId, type DesiredItem, joinTemplates, type NodeId } from '@holdfast/contract'
import {
  containerProof,
  containerVersions,
  knownProofKey,
  proofKeyOf,
} from '@holdfast/server/operations/secrets/rotation/proof'
import { realIds } from '@holdfast/server/system-clock'
import {
  makeSimulatedKeys,
  makeTempFolder,
  type SimulatedAgents,
  startSimulatedAgents,
} from '@holdfast/testkit'
import { enroll, enrollment, joinToken } from '@holdfast/testkit/nodes/enroll'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { untilNodesReady } from '@holdfast/testkit/scenarios/lab-agents'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'

interface Target {
  /** The versions of the password that the target accepts. */
  readonly accepted: Set<number>
  readonly logins: { done: number; refused: number }
}

export interface OperationsWorld {
  readonly platform: Platform
  readonly target: Target
  /** Runs the command of a join page: enrolls a machine with the token and starts its agent. */
  join(nodeName: string, token: string): Promise<void>
  stop(): Promise<void>
}

const LOGIN_MS = 50
const ROLES = ['api', 'broker', 'controllers', 'gateway']

export async function startOperationsWorld(names: readonly string[]): Promise<OperationsWorld> {
  const folder = makeTempFolder('dashboard')
  await buildDashboard(folder.path)
  const platform = await ownPlatform({ settings: { roles: ROLES, ui: { folder: folder.path } } })
  await proofKeyOf(platform.server.store, realIds)
  const target: Target = { accepted: new Set([1]), logins: { done: 0, refused: 0 } }
  const running = new Map<AssignmentId, number>()
  const agents: SimulatedAgents[] = []
  const join = async (nodeName: string, token: string): Promise<void> => {
    const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
    const made = await enroll(platform.baseUrl, enrollment(nodeName, token, { publicKey, encryptionKey }))
    if (made.status !== 201) throw new Error(`enrollment failed: ${made.text}`)
    const node = { nodeId: String(made.body['nodeId']) as NodeId, generation: 1, identityKey }
    const started = await startSimulatedAgents({
      url: platform.baseUrl,
      nodes: [node],
      report: (item) => proofOf(platform, item),
      onDesired: (_node, message) => {
        for (const item of joinTemplates(message)) follow(running, item)
      },
    })
    agents.push(started)
  }
  const api = platform.api(platform.acme.token)
  for (const name of names) await join(name, await joinToken(api, name))
  await untilNodesReady(api, names.length)
  const timer = setInterval(() => logIn(running, target), LOGIN_MS)
  return {
    platform,
    target,
    join,
    async stop() {
      clearInterval(timer)
      for (const each of agents) each.close()
      await platform.stop()
      rmSync(folder.path, { recursive: true, force: true })
    },
  }
}

/** The version of a container without a pinned one: the first. */
const FIRST = 1

function versionOf({ template }: DesiredItem): number | undefined {
  const [secret] = template.secrets ?? []
  return secret === undefined ? undefined : (secret.version ?? FIRST)
}

function follow(running: Map<AssignmentId, number>, item: DesiredItem): void {
  const version = versionOf(item)
  if (item.desired === 'running' && version !== undefined) running.set(item.assignmentId, version)
  else running.delete(item.assignmentId)
}

function logIn(running: ReadonlyMap<AssignmentId, number>, { accepted, logins }: Target): void {
  for (const version of running.values())
    if (accepted.has(version)) logins.done += 1
    else logins.refused += 1
}

/** The proof that the broker would have sent with the values. */
function proofOf({ server }: Platform, { assignmentId, template }: DesiredItem): { proof?: string } {
  const key = knownProofKey(server.store)
  const versions = containerVersions(template.secrets ?? [], () => FIRST)
  if (key === undefined || versions === undefined || versions.size === 0) return {}
  return { proof: containerProof(key, assignmentId, versions) }
}
