// `npm run dev:down`: stops the processes that dev:up started and removes their folder. A process is identified by its id
// and start time.

import { existsSync } from 'node:fs'
import { endRecordedProcess, waitUntil } from '@holdfast/testkit'
import { removeContexts } from './dev/cli-contexts.ts'
import { type DevFolder, folderFromArguments, removeFolder } from './dev/dev-folder.ts'
import { readEnvironment } from './dev/environment.ts'
import { isRunning, KEEPER, type ListedProcess, listProcesses } from './dev/process-list.ts'

/**
 * Time for the platform's parent process (keeper) to stop its nodes. If the keeper is killed earlier, containers of the
 * nodes keep running.
 */
const TIMEOUT_MS = 60_000
const print = (text: string): void => void process.stdout.write(`${text}\n`)

/**
 * Stops the platform. Its parent process (keeper) is stopped first: it drains the server and stops all other processes.
 */
async function endPlatform(listed: readonly ListedProcess[]): Promise<void> {
  const keeper = listed.find(({ name }) => name === KEEPER)
  if (keeper !== undefined && isRunning(keeper)) {
    process.kill(keeper.pid, 'SIGTERM')
    // If the parent process (keeper) does not stop in time, it is killed with the other processes.
    await untilStopped([keeper]).catch(() => {})
  }
  for (const each of listed) endRecordedProcess(each)
  await untilStopped(listed)
}

function untilStopped(processes: readonly ListedProcess[]): Promise<boolean> {
  const what = `${processes.map(({ name }) => name).join(', ')} ended`
  return waitUntil(() => !processes.some(isRunning), { what, timeoutMs: TIMEOUT_MS })
}

async function stopPlatform(folder: DevFolder): Promise<string> {
  if (!existsSync(folder.path)) return 'No platform is running.'
  const listed = listProcesses(folder)
  const running = listed.filter(isRunning)
  await endPlatform(listed)
  const contexts = await dropContexts(folder)
  removeFolder(folder)
  // Sorted by name, because the processes start in parallel and are listed in any order.
  const stopped = running
    .map(({ name }) => name)
    .sort()
    .join(', ')
  return `Stopped: ${stopped || 'nothing was running'}. Removed ${folder.path}${contexts}`
}

/**
 * Removes the CLI contexts and returns the end of the printed sentence. An unreadable contexts file is left unchanged.
 */
async function dropContexts(folder: DevFolder): Promise<string> {
  if (!existsSync(folder.environment)) return '.'
  const { baseUrl, cli } = readEnvironment(folder)
  try {
    await removeContexts(cli.file, baseUrl)
  } catch (error) {
    return `; its contexts were not removed: ${error instanceof Error ? error.message : String(error)}`
  }
  return ` and its contexts.${cli.before === null ? '' : ` No context is current now; before dev:up it was ${cli.before}.`}`
}

print(await stopPlatform(folderFromArguments(process.argv.slice(2))))
