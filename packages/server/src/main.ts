#!/usr/bin/env node
// The program holdfast-server: serve, init, check-config. Reads the command line, runs the command, shuts down cleanly.

import pino, { type Logger } from 'pino'
import { type ConfiguredLine, readCommandLine, USAGE, UsageFault } from './command-line.ts'
import { composeServer, type Server } from './compose.ts'
import { checkConfig } from './config/check-config.ts'
import { gatherConfig } from './config/load-config.ts'
import type { Config } from './config/schema.ts'
import { EngineError } from './ports/key-value.ts'
import { withoutTaint } from './ports/taint.ts'
import { runInit } from './run-init.ts'
import { NewerFormatError } from './store/format.ts'

/** Longest time that log lines are buffered. Lines are written in blocks: one write per request costs too much. */
const LOG_FLUSH_MS = 200

/** Exit code of a server that cannot read the form in which the store is written. */
const UNREADABLE_STORE = 78
/** Longest time for closing connections after the store was found to be written in a newer form. */
const CLOSE_MS = 2_000

function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 1, sync: false, minLength: 4096 })
  setInterval(() => destination.flush(), LOG_FLUSH_MS).unref()
  const hooks = { streamWrite: withoutTaint }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks }, destination)
}

async function serve(config: Config): Promise<void> {
  const log = openLog(config.log.level)
  let server: Server | undefined
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    log.info({}, 'draining')
    void server?.close().then(() => log.flush())
  }
  server = await composeServer(config, log, (error) => {
    log.fatal({}, error.message)
    process.exitCode = UNREADABLE_STORE
    setTimeout(() => process.exit(), CLOSE_MS)
    stop()
  })
  await server.http.listen({ host: config.listen.host, port: config.listen.port })
  log.info({ address: config.publicUrl }, 'serving')
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

async function runConfigured(line: ConfiguredLine): Promise<void> {
  // An operator who sets up the secrets store with a token need not configure identities: `init` issues them.
  const identities = line.init.operatorTokenFile === undefined ? 'needed' : 'to be issued'
  const env = line.roles === undefined ? process.env : { ...process.env, HOLDFAST_ROLES: line.roles }
  const loaded = gatherConfig(line.config ?? process.env['HOLDFAST_CONFIG'], env, identities)
  const checked = checkConfig(loaded)
  if (!loaded.ok) {
    process.stderr.write(checked.text)
    process.exitCode = 1
  } else if (line.command === 'check-config') process.stdout.write(checked.text)
  else if (line.command === 'init') process.exitCode = await runInit(loaded.config, line.init)
  else await serve(loaded.config)
}

async function main(): Promise<void> {
  const line = readCommandLine(process.argv.slice(2))
  if (line.command === 'help') process.stdout.write(USAGE)
  else await runConfigured(line)
}

/** Ends the process. An error that an operator can fix is explained in one sentence; any other error keeps its stack. */
function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`)
  if (error instanceof NewerFormatError) process.exit(UNREADABLE_STORE)
  process.exit(error instanceof UsageFault ? 2 : 1)
}

function explain(error: unknown): string {
  if (error instanceof EngineError)
    return `The key-value store returned an error: ${error.message}. Check the settings under etcd.`
  if (error instanceof NewerFormatError) return error.message
  if (error instanceof UsageFault) return `${error.message} All of it: holdfast-server --help`
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

await main().catch(fail)
