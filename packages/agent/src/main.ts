#!/usr/bin/env node
// holdfast-agent: enroll, run. Reads the command line, puts the agent together, and ends by letting go of it.

import { existsSync, readFileSync } from 'node:fs'
import pino from 'pino'
import { createCaddyAdmin } from './adapters/caddy/caddy-admin.ts'
import { createDockerEngine } from './adapters/docker/docker-engine.ts'
import { startAgent } from './agent.ts'
import { type EnrollLine, type RunLine, readCommandLine, USAGE } from './command/command-line.ts'
import { UsageFault } from './command/usage-fault.ts'
import { EnrollmentFailed, enroll } from './enroll/enroll.ts'
import { EngineError } from './ports/engine.ts'
import { startSession } from './session/start-session.ts'
import { loadNodeState } from './state/node-state.ts'

const UNIX = 'unix://'

async function runEnroll(line: EnrollLine): Promise<void> {
  const engineVersion = await createDockerEngine(line.engine.slice(UNIX.length)).version()
  const { nodeId, warnings = [] } = await enroll({
    server: line.server,
    ...(line.caPin === undefined ? {} : { caPin: line.caPin }),
    ...(line.ca === undefined ? {} : { ca: readFileSync(line.ca, 'utf8') }),
    joinToken: line.token,
    nodeName: line.name,
    labels: line.labels,
    folder: line.state,
    engine: line.engine,
    engineVersion,
    ...(line.capacity === undefined ? {} : { capacity: line.capacity }),
  })
  for (const { code, why } of warnings) process.stderr.write(`Warning, ${code}: ${why}\n`)
  process.stdout.write(`${line.name} is ${nodeId}. Start it with: holdfast-agent run --state ${line.state}\n`)
}

async function run({ state: folder, labels, routing }: RunLine): Promise<number> {
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime })
  const enrolled = await loadNodeState(folder)
  if (enrolled === undefined) {
    process.stderr.write(
      `No node is enrolled in ${folder}. Run: holdfast-agent enroll --state ${folder} ...\n`,
    )
    return 1
  }
  const state = labels === undefined ? enrolled : { ...enrolled, labels: { ...labels } }
  const engine = createDockerEngine(state.engine.slice(UNIX.length))
  const { caddy, configFile, peerAddress } = routing
  const router = createCaddyAdmin(caddy, configFile)
  const peer = peerAddress === undefined ? {} : { peerAddress }
  // Without it the server tells this node of no routes: whoever set up a router expects otherwise.
  if (peerAddress === undefined && existsSync(caddy.adminSocket))
    log.warn({ socket: caddy.adminSocket }, 'there is a router, but no --peer-address: no routes are served')
  const agent = await startAgent({ state, folder, engine, startSession, router, ...peer, log })
  log.info({ node: state.nodeName, id: state.nodeId, server: state.server }, 'running')
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  log.info({}, 'ending; containers go on')
  await agent.close()
  return 0
}

const ASKS_FOR_HELP = ['help', '--help', '-h']

async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.some((word) => ASKS_FOR_HELP.includes(word))) {
    process.stdout.write(USAGE)
    return
  }
  const line = readCommandLine(words, process.env)
  if (line.command === 'enroll') await runEnroll(line)
  else process.exitCode = await run(line)
}

/** What an operator can mend is said in a sentence; a fault of ours keeps its stack. */
function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(error instanceof UsageFault ? 2 : 1)
}

function explain(error: unknown): string {
  if (error instanceof EngineError) return `The Docker Engine does not answer as it should: ${error.message}`
  if (error instanceof EnrollmentFailed) return error.message
  if (error instanceof UsageFault) return `${error.message} All of it: holdfast-agent --help`
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

await main().catch(fail)
