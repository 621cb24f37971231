// The parent process (keeper) of the development platform. dev:up starts it in its own session. Engines and server are
// its children; the kernel kills them when the parent ends, even after kill -9, so no process is ever left behind.

import { env } from 'node:process'
import { contextsPath } from '@holdfast/cli/settings/contexts-file'
import { buildDashboard } from '../dashboard/build.ts'
import { addContexts } from './cli-contexts.ts'
import { createTenants } from './create-tenants.ts'
import { type DevFolder, folderFromArguments, removeFolder } from './dev-folder.ts'
import { writeEnvironment } from './environment.ts'
import { servePowerCommands } from './power.ts'
import { addProcess, KEEPER } from './process-list.ts'
import { serveLocalhost } from './serve-localhost.ts'
import { startEngines } from './start-engines.ts'
import { type DevMachines, enrollNodes, startMachines } from './start-nodes.ts'
import { type RunningServer, startServer } from './start-server.ts'
import { createStep, type Report } from './step.ts'
import { writeManifests } from './write-manifest.ts'

const DRAIN_MS = 5_000
const FOR_EVER_MS = 2 ** 31 - 1

/** Reports to dev:up. If dev:up has died, the write fails first and the disconnect that aborts the start follows. */
const sendReport = (report: Report): void => {
  if (process.connected) process.send?.(report, undefined, {}, () => {})
}

interface StartedPlatform {
  readonly server: RunningServer
  readonly machines: DevMachines | undefined
}

async function start(folder: DevFolder, contextsFile: string): Promise<StartedPlatform> {
  addProcess(folder, KEEPER, process.pid)
  const step = createStep(sendReport)
  const machines = await startMachines(step)
  // The server reads the files of the dashboard when it starts.
  const [engines] = await Promise.all([
    startEngines(folder, step, machines?.lab),
    step('dashboard built', () => buildDashboard(folder.dashboard)),
  ])
  const server = await startServer(folder, engines, step)
  const tenants = await step('tenants acme and globex', () => createTenants(server))
  const nodes = await step('nodes enrolled', () => enrollNodes(machines, server, tenants))
  writeManifests(folder, engines.images)
  // CLI contexts are created last, so that a failed start leaves none behind.
  const cli = await step('contexts of the command line', () =>
    addContexts(contextsFile, server.baseUrl, tenants),
  )
  const { baseUrl, platformToken } = server
  const dashboard = await serveLocalhost(baseUrl)
  const { registry, images } = engines
  writeEnvironment(folder, {
    baseUrl,
    dashboard,
    platformToken,
    registry: registry.host,
    sampleImage: images.hello,
    tenants,
    nodes,
    cli,
  })
  return { server, machines }
}

/** Removes HOLDFAST_ environment variables, because they would override the platform's configuration file. */
function clearSettings(): void {
  for (const name of Object.keys(env))
    if (name.startsWith('HOLDFAST_') && name !== 'HOLDFAST_ENGINES') delete env[name]
}

/**
 * Reports a failed start and exits. The folder is removed at exit, after earlier exit handlers have stopped the engines.
 */
function abort(folder: DevFolder, why: string): void {
  sendReport({ kind: 'failed', why })
  process.once('exit', () => removeFolder(folder))
  process.exit(1)
}

async function drain({ server: { process: server }, machines }: StartedPlatform): Promise<void> {
  if (!server.hasExited()) process.kill(server.pid, 'SIGTERM')
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, DRAIN_MS))
  await Promise.race([server.exited, timeout])
  await machines?.lab.stop()
  process.exit(0)
}

async function keep(): Promise<void> {
  const folder = folderFromArguments(process.argv.slice(2))
  const contextsFile = contextsPath(env)
  clearSettings()
  const interrupted = (): void => abort(folder, 'interrupted')
  process.once('disconnect', interrupted)
  process.once('SIGTERM', interrupted)
  setInterval(() => {}, FOR_EVER_MS)
  try {
    const platform = await start(folder, contextsFile)
    process.off('disconnect', interrupted)
    process.off('SIGTERM', interrupted)
    process.once('SIGTERM', () => void drain(platform))
    if (platform.machines !== undefined) servePowerCommands(folder, platform.machines)
    sendReport({ kind: 'ready' })
  } catch (error) {
    abort(folder, error instanceof Error ? error.message : String(error))
  }
}

await keep()
