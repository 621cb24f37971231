// `npm run dev:up`: a whole platform on this machine, with what to try next. See scripts/dev/keeper.ts for what holds it.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { claimFolder, type DevFolder, folderFromArguments } from './dev/dev-folder.ts'
import { readEnvironment } from './dev/environment.ts'
import { nextSteps } from './dev/next-steps.ts'
import { isRunning, listProcesses } from './dev/process-list.ts'
import { isReport } from './dev/step.ts'

const KEEPER_FILE = fileURLToPath(new URL('./dev/keeper.ts', import.meta.url))
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Changes nothing; 0 where the platform is up. */
function explainPresent(folder: DevFolder): number {
  const running = listProcesses(folder).some(isRunning)
  if (running && existsSync(folder.environment)) {
    say(`A platform is up already at ${readEnvironment(folder).baseUrl}; npm run dev:down ends it.`)
    return 0
  }
  const what = running ? 'A platform is on its way up or down' : 'A platform that ended has left its files'
  say(`${what} in ${folder.path}; npm run dev:down ends it and removes them.`)
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

/** How it ended: ready, or why not. The keeper cleans up after itself when the channel closes before it is ready. */
function awaitReady(keeper: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let failure = 'the process that holds the platform ended'
    const interrupt = (): void => {
      failure = 'interrupted'
      if (keeper.connected) keeper.disconnect()
    }
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    keeper.once('error', (error) => resolve(error.message))
    keeper.once('exit', () => resolve(failure))
    keeper.on('message', (told) => {
      if (!isReport(told)) return
      if (told.kind === 'step') say(`  ${told.seconds.toFixed(1).padStart(5)} s  ${told.name}`)
      if (told.kind === 'failed') failure = told.why
      if (told.kind === 'ready') resolve(undefined)
    })
  })
}

async function main(): Promise<number> {
  const folder = folderFromArguments(process.argv.slice(2))
  const begun = performance.now()
  if (!claimFolder(folder)) return explainPresent(folder)
  say('Starting a platform on this machine:')
  const keeper = startKeeper(folder)
  const failure = await awaitReady(keeper)
  if (failure !== undefined) {
    say(`It did not come up, and nothing was left behind. ${failure}`)
    return 1
  }
  keeper.disconnect()
  keeper.unref()
  say(`Up after ${((performance.now() - begun) / 1000).toFixed(1)} s.`)
  say(nextSteps(folder))
  return 0
}

process.exitCode = await main()
