// `npm run dev:up`: starts a whole platform on this machine and prints commands to try. The processes of the platform are
// children of dev/keeper.ts, not of this script.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { claimFolder, type DevFolder, folderFromArguments } from './dev/dev-folder.ts'
import { readEnvironment } from './dev/environment.ts'
import { nextSteps } from './dev/next-steps.ts'
import { isRunning, listProcesses } from './dev/process-list.ts'
import { isReport } from './dev/step.ts'

const KEEPER_FILE = fileURLToPath(new URL('./dev/keeper.ts', import.meta.url))
const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** Prints that a platform already exists; returns 0 if it is running. */
function explainPresent(folder: DevFolder): number {
  const running = listProcesses(folder).some(isRunning)
  if (running && existsSync(folder.environment)) {
    print(`A platform is already running at ${readEnvironment(folder).baseUrl}; npm run dev:down stops it.`)
    return 0
  }
  const what = running ? 'A platform is starting or stopping' : 'A stopped platform has left its files'
  print(`${what} in ${folder.path}; npm run dev:down stops it and removes the files.`)
  return 1
}

function startKeeper(folder: DevFolder): ChildProcess {
  const log = openSync(folder.keeperLog, 'a', 0o600)
  const keeper = spawn(process.execPath, [KEEPER_FILE, '--folder', folder.path], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return keeper
}

/** Waits for the platform's parent process. Resolves with undefined when the platform is ready, else with the failure. */
function awaitReady(keeper: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let failure = 'the keeper process ended'
    const interrupt = (): void => {
      failure = 'interrupted'
      if (keeper.connected) keeper.disconnect()
    }
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    keeper.once('error', (error) => resolve(error.message))
    keeper.once('exit', () => resolve(failure))
    keeper.on('message', (report) => {
      if (!isReport(report)) return
      if (report.kind === 'step') print(`  ${report.seconds.toFixed(1).padStart(5)} s  ${report.name}`)
      if (report.kind === 'failed') failure = report.why
      if (report.kind === 'ready') resolve(undefined)
    })
  })
}

async function main(): Promise<number> {
  const folder = folderFromArguments(process.argv.slice(2))
  const startedAt = performance.now()
  if (!claimFolder(folder)) return explainPresent(folder)
  print('Starting a platform on this machine:')
  const keeper = startKeeper(folder)
  const failure = await awaitReady(keeper)
  if (failure !== undefined) {
    print(`The platform did not start, and everything was cleaned up: ${failure}`)
    return 1
  }
  keeper.disconnect()
  keeper.unref()
  print(`Up after ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`)
  print(nextSteps(folder))
  return 0
}

process.exitCode = await main()
