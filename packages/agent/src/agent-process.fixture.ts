// For tests: the agent in a process of its own, which can be killed as nothing else is. Its server is the test, by messages.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DesiredItem, Observation, TenantId } from '@holdfast/contract'
import { createCaddyAdmin } from './adapters/caddy/caddy-admin.ts'
import { createTestNode, type TestNode } from './agent.fixture.ts'
import type { CaddySettings } from './ports/router-settings.ts'

export interface ProcessPlace {
  readonly tenant: TenantId
  readonly folder: string
  readonly socketPath: string
  readonly caddy: CaddySettings
  readonly configFile: string
}

type Sent = Parameters<TestNode['send']>
const TELL_EVERY_MS = 10

export interface AgentProcess {
  send(...sent: Sent): void
  newest(item: DesiredItem): Observation | undefined
  /** kill -9; ends when the process is gone. */
  kill(): Promise<void>
}

export async function startAgentProcess(place: ProcessPlace): Promise<AgentProcess> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(place)])
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const reports: Observation[] = []
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The agent ended at its start.')))
    child.on('message', (told: Observation[]) => {
      reports.push(...told)
      resolve()
    })
  })
  return {
    send: (...sent) => void child.send(sent),
    newest: ({ assignmentId }) => reports.findLast((one) => one.assignmentId === assignmentId),
    kill() {
      child.kill('SIGKILL')
      return gone
    },
  }
}

/** In the child. */
async function run({ tenant, folder, socketPath, caddy, configFile }: ProcessPlace): Promise<void> {
  const node = createTestNode(socketPath, createCaddyAdmin(caddy, configFile), { tenant, folder })
  await node.start()
  process.on('message', (sent: Sent) => node.send(...sent))
  // Nobody is left to speak to.
  process.on('disconnect', () => process.exit())
  process.send?.([])
  setInterval(() => {
    const told = node.reports.splice(0)
    if (told.length > 0) process.send?.(told)
  }, TELL_EVERY_MS)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] ?? ''))
