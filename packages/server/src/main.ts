#!/usr/bin/env node
// holdfast-server: serve, init, check-config, simulate. Reads the command line, composes, and ends by draining.

import pino, { type Logger } from 'pino'
import { composeServer } from './compose.ts'
import { checkConfig } from './config/check-config.ts'
import { gatherConfig } from './config/gather-config.ts'
import type { Config } from './config/schema.ts'
import { EngineError } from './ports/key-value.ts'
import { withoutTaint } from './ports/taint.ts'
import { type InitOptions, runInit } from './run-init.ts'

const USAGE = `holdfast-server: the control plane of Holdfast

  holdfast-server serve  [--config FILE] [--roles ROLE,...]
                                                    run until SIGTERM
  holdfast-server init   [--config FILE] [--reissue] [--operator-token-file FILE]
                                                    make the platform and print its first token;
                                                    --reissue replaces a lost one. With the token of an
                                                    operator of the secrets store, set that up first and
                                                    print the identities that the configuration lacks
  holdfast-server check-config [--config FILE]      name every fault of the configuration
  holdfast-server simulate FILE [--seed NUMBER]     run a script of changes through the real controllers in virtual
                                                    time and print the story; 1: an invariant was violated

The file may also be given as HOLDFAST_CONFIG. Every setting has a variable, which goes before the file.
`

interface CommandLine {
  readonly command: string
  readonly config: string | undefined
  /** As the setting of that name, and before all that gives it. */
  readonly roles: string | undefined
  readonly init: InitOptions
}

function readCommandLine(words: readonly string[]): CommandLine | undefined {
  const [command = '', ...rest] = words
  let config = process.env['HOLDFAST_CONFIG']
  let roles: string | undefined
  let init: InitOptions = { reissue: false }
  for (let index = 0; index < rest.length; index += 1) {
    if (rest[index] === '--config' && rest[index + 1] !== undefined) config = rest[++index]
    else if (rest[index] === '--roles' && command === 'serve' && rest[index + 1] !== undefined)
      roles = rest[++index]
    else if (rest[index] === '--reissue' && command === 'init') init = { ...init, reissue: true }
    else if (rest[index] === '--operator-token-file' && command === 'init' && rest[index + 1] !== undefined)
      init = { ...init, operatorTokenFile: rest[++index] ?? '' }
    else return undefined
  }
  return ['serve', 'init', 'check-config'].includes(command) ? { command, config, roles, init } : undefined
}

/** Lines are written in pages, and at the latest after this time: one write for each request would cost more than the line. */
const LOG_FLUSH_MS = 200

function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 1, sync: false, minLength: 4096 })
  setInterval(() => destination.flush(), LOG_FLUSH_MS).unref()
  const hooks = { streamWrite: withoutTaint }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks }, destination)
}

async function serve(config: Config): Promise<void> {
  const log = openLog(config.log.level)
  const server = await composeServer(config, log)
  await server.http.listen({ host: config.listen.host, port: config.listen.port })
  log.info({ address: config.publicUrl }, 'serving')
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    log.info({}, 'draining')
    void server.close().then(() => log.flush())
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** Apart from the others: it has no configuration. */
async function runSimulate(words: readonly string[]): Promise<void> {
  const [file, option, number, ...rest] = words
  const seeded = option === '--seed' && /^\d{1,15}$/.test(number ?? '') && rest.length === 0
  if (file === undefined || file.startsWith('-') || (option !== undefined && !seeded)) return showUsage()
  // Loaded for this command alone: no server needs it.
  const { simulate } = await import('./simulation/simulate-command.ts')
  const { exitCode, text } = await simulate({ file, seed: seeded ? Number(number) : undefined })
  const stream = exitCode === 2 ? process.stderr : process.stdout
  stream.write(text)
  process.exitCode = exitCode
}

function showUsage(): void {
  process.stderr.write(USAGE)
  process.exitCode = 2
}

async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words[0] === 'simulate') return runSimulate(words.slice(1))
  const line = readCommandLine(words)
  if (line === undefined) return showUsage()
  // Who sets the secrets store up has no identities yet.
  const identities = line.init.operatorTokenFile === undefined ? 'needed' : 'to be issued'
  const env = line.roles === undefined ? process.env : { ...process.env, HOLDFAST_ROLES: line.roles }
  const loaded = gatherConfig(line.config, env, identities)
  const checked = checkConfig(loaded)
  if (!loaded.ok) {
    process.stderr.write(checked.text)
    process.exitCode = 1
  } else if (line.command === 'check-config') process.stdout.write(checked.text)
  else if (line.command === 'init') process.exitCode = await runInit(loaded.config, line.init)
  else await serve(loaded.config)
}

/** What an operator can mend is said in a sentence; a fault of ours keeps its stack. */
function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
}

function explain(error: unknown): string {
  if (error instanceof EngineError)
    return `The key-value store does not answer as it should: ${error.message}. Check the settings under etcd.`
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

await main().catch(fail)
