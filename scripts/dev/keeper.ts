// The process that holds the development platform together. dev:up starts it in a session of its own; engines and server
// are its children and die with it, by the kernel's doing, even when it is killed with -9. So there is one process to
// end, and no moment of the start at which a kill leaves another one behind.

import { env } from 'node:process'
import { contextsPath } from '@holdfast/cli/settings/contexts-file'
import { addContexts } from './cli-contexts.ts'
import { createTenants } from './create-tenants.ts'
import { type DevFolder, folderFromArguments, removeFolder } from './dev-folder.ts'
import { writeEnvironment } from './environment.ts'
import { obeyPowerOrders } from './power.ts'
import { addProcess, KEEPER } from './process-list.ts'
import { startEngines } from './start-engines.ts'
import { type DevMachines, enrollNodes, startMachines } from './start-nodes.ts'
import { type RunningServer, startServer } from './start-server.ts'
import { createStep, type Report } from './step.ts'
import { writeManifest } from './write-manifest.ts'

const DRAIN_MS = 5_000
const FOR_EVER_MS = 2 ** 31 - 1

const report = (told: Report): void => {
  if (process.connected) process.send?.(told)
}

interface Raised {
  readonly server: RunningServer
  readonly machines: DevMachines | undefined
}

async function raise(folder: DevFolder, contextsFile: string): Promise<Raised> {
  addProcess(folder, KEEPER, process.pid)
  const step = createStep(report)
  const machines = await startMachines(step)
  const engines = await startEngines(folder, step, machines?.lab)
  const server = await startServer(folder, engines, step)
  const tenants = await step('tenants acme and globex', () => createTenants(server))
  const nodes = await step('nodes enrolled', () => enrollNodes(machines, server, tenants))
  writeManifest(folder, engines.sampleImage)
  // Last, so that a start that fails leaves no context behind.
  const cli = await step('contexts of the command line', () =>
    addContexts(contextsFile, server.baseUrl, tenants),
  )
  const { baseUrl, platformToken } = server
  const { registry, sampleImage } = engines
  writeEnvironment(folder, {
    baseUrl,
    platformToken,
    registry: registry.host,
    sampleImage,
    tenants,
    nodes,
    cli,
  })
  return { server, machines }
}

/** Variables go before the file: one that is set for something else would change the platform. */
function forgetSettings(): void {
  for (const name of Object.keys(env))
    if (name.startsWith('HOLDFAST_') && name !== 'HOLDFAST_ENGINES') delete env[name]
}

/** The engines' own exit handler is older and runs first: nothing writes to the folder any more when it is removed. */
function giveUp(folder: DevFolder, why: string): void {
  report({ kind: 'failed', why })
  process.once('exit', () => removeFolder(folder))
  process.exit(1)
}

async function drain({ server: { process: server }, machines }: Raised): Promise<void> {
  if (!server.hasExited()) process.kill(server.pid, 'SIGTERM')
  const late = new Promise<void>((resolve) => setTimeout(resolve, DRAIN_MS))
  await Promise.race([server.exited, late])
  await machines?.lab.stop()
  process.exit(0)
}

async function keep(): Promise<void> {
  const folder = folderFromArguments(process.argv.slice(2))
  const contextsFile = contextsPath(env)
  forgetSettings()
  const abandoned = (): void => giveUp(folder, 'interrupted')
  process.once('disconnect', abandoned)
  process.once('SIGTERM', abandoned)
  setInterval(() => {}, FOR_EVER_MS)
  try {
    const raised = await raise(folder, contextsFile)
    process.off('disconnect', abandoned)
    process.off('SIGTERM', abandoned)
    process.once('SIGTERM', () => void drain(raised))
    if (raised.machines !== undefined) obeyPowerOrders(folder, raised.machines)
    report({ kind: 'ready' })
  } catch (error) {
    giveUp(folder, error instanceof Error ? error.message : String(error))
  }
}

await keep()
