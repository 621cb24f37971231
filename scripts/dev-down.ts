// `npm run dev:down`: ends exactly what dev:up started and removes its folder. Processes are known by id and start time.

import { existsSync } from 'node:fs'
import { endRecordedProcess, waitUntil } from '@holdfast/testkit'
import { removeContexts } from './dev/cli-contexts.ts'
import { type DevFolder, folderFromArguments, removeFolder } from './dev/dev-folder.ts'
import { readEnvironment } from './dev/environment.ts'
import { isRunning, KEEPER, type ListedProcess, listProcesses } from './dev/process-list.ts'

/** Whoever is killed before its machines are down leaves them behind: on a loaded machine that takes its time. */
const PATIENCE_MS = 60_000
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** The keeper is asked first: it lets the server finish what it is doing and takes everything with it. */
async function endPlatform(listed: readonly ListedProcess[]): Promise<void> {
  const keeper = listed.find(({ name }) => name === KEEPER)
  if (keeper !== undefined && isRunning(keeper)) {
    process.kill(keeper.pid, 'SIGTERM')
    await allGone([keeper]).catch(() => {})
  }
  for (const each of listed) endRecordedProcess(each)
  await allGone(listed)
}

function allGone(processes: readonly ListedProcess[]): Promise<boolean> {
  const what = `${processes.map(({ name }) => name).join(', ')} ended`
  return waitUntil(() => !processes.some(isRunning), { what, timeoutMs: PATIENCE_MS })
}

async function lowerPlatform(folder: DevFolder): Promise<string> {
  if (!existsSync(folder.path)) return 'No platform is up.'
  const listed = listProcesses(folder)
  const running = listed.filter(isRunning)
  await endPlatform(listed)
  const contexts = await forgetContexts(folder)
  removeFolder(folder)
  // They were started side by side and noted as each came up: by name, what is printed is the same each time.
  const ended = running
    .map(({ name }) => name)
    .sort()
    .join(', ')
  return `Ended: ${ended || 'nothing was running'}. Removed ${folder.path}${contexts}`
}

/** What to say of it. A platform that never came up has no contexts; a file that cannot be read is left as it is. */
async function forgetContexts(folder: DevFolder): Promise<string> {
  if (!existsSync(folder.environment)) return '.'
  const { baseUrl, cli } = readEnvironment(folder)
  try {
    await removeContexts(cli.file, baseUrl)
  } catch (error) {
    return `; its contexts stay: ${error instanceof Error ? error.message : String(error)}`
  }
  return ` and its contexts.${cli.before === null ? '' : ` None is current now; before, it was ${cli.before}.`}`
}

say(await lowerPlatform(folderFromArguments(process.argv.slice(2))))
