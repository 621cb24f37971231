#!/usr/bin/env node
// The holdfast-agent program: parses the command line, then enrolls the node or runs the agent until a signal.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defined, type PoolWipe } from '@holdfast/contract'
import pino from 'pino'
import { openBtrfsPool } from './adapters/btrfs/open-pool.ts'
import { createCaddyAdmin } from './adapters/caddy/caddy-admin.ts'
import { createDockerEngine } from './adapters/docker/docker-engine.ts'
import { createHostVolumes } from './adapters/host-volumes.ts'
import { createDiskReader } from './adapters/kernel/disk-use.ts'
import { createWriterFreezer } from './adapters/kernel/freeze-writers.ts'
import { mayMount } from './adapters/kernel/may-mount.ts'
import { openOomKills } from './adapters/kernel/oom-kills.ts'
import { createUsageReader } from './adapters/kernel/usage-files.ts'
import { startAgent, WRITERS_CGROUP } from './agent.ts'
import {
  type EnrollLine,
  FENCER_FOLDER,
  OPTIONS_FILE,
  type RunLine,
  readCommandLine,
  USAGE,
} from './command/command-line.ts'
import { UsageError } from './command/usage-error.ts'
import { EnrollmentFailed, enroll } from './enroll/enroll.ts'
import { requireUnit, startUnit } from './enroll/start-unit.ts'
import { EngineError } from './ports/engine.ts'
import { startSession } from './session/start-session.ts'
import { loadNodeState } from './state/node-state.ts'

const UNIX = 'unix://'
const LACKS_RIGHTS =
  'the agent may not mount its pool: link /usr/lib/holdfast-agent/holdfast-agent-pool.conf into /etc/systemd/system/holdfast-agent.service.d, then systemctl daemon-reload and restart the agent'
/** holdfast-agent.service waits for this file in its folder. */
const READY_FILE = 'ready'

async function runEnroll(line: EnrollLine): Promise<void> {
  // Before the join token is spent.
  if (line.start !== undefined) await requireUnit()
  const engineVersion = await createDockerEngine(line.engine.slice(UNIX.length)).version()
  const { nodeId, warnings = [] } = await enroll({
    server: line.server,
    ...defined({
      caPin: line.caPin,
      ca: line.ca === undefined ? undefined : readFileSync(line.ca, 'utf8'),
      capacity: line.capacity,
    }),
    joinToken: line.token,
    nodeName: line.name,
    labels: line.labels,
    folder: line.state,
    engine: line.engine,
    engineVersion,
  })
  for (const { code, why } of warnings) process.stderr.write(`Warning: ${code}: ${why}\n`)
  if (line.start === undefined) {
    process.stdout.write(
      `Enrolled ${line.name} as ${nodeId}. Start it with: holdfast-agent run --state ${line.state}\n`,
    )
    return
  }
  process.stdout.write(`Enrolled ${line.name} as ${nodeId}.\n`)
  await startUnit(OPTIONS_FILE, line.start)
  process.stdout.write('The node runs, and starts at each boot.\n')
}

async function run({
  state: folder,
  labels,
  routing,
  pool,
  peers,
  promiseLeaseMs,
  cgroup = WRITERS_CGROUP,
  fencer = existsSync(FENCER_FOLDER) ? FENCER_FOLDER : undefined,
}: RunLine): Promise<number> {
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, openLogOutput())
  const enrolled = await loadNodeState(folder)
  if (enrolled === undefined) {
    process.stderr.write(
      `No node is enrolled in ${folder}. Run: holdfast-agent enroll --state ${folder} ...\n`,
    )
    return 1
  }
  const state = labels === undefined ? enrolled : { ...enrolled, labels: { ...labels } }
  const engine = createDockerEngine(state.engine.slice(UNIX.length))
  const { caddy, configFile, peerAddress, securePeerAddress } = routing
  const router = createCaddyAdmin(caddy, configFile)
  // Warns an operator who has set up a router: without a peer address the server sends no routes to this node.
  if (peerAddress === undefined && existsSync(caddy.adminSocket))
    log.warn({ socket: caddy.adminSocket }, 'router found, but without --peer-address no routes are served')
  const { tenant } = state
  const openPool =
    pool && ((order?: PoolWipe) => openBtrfsPool(pool, folder, undefined, { tenant, ...defined({ order }) }))
  if (pool !== undefined && fencer === undefined)
    log.warn({}, 'no fencer: volumes of this node get no promotable copies')
  if (pool !== undefined && !mayMount()) log.error({ pool: pool.path }, LACKS_RIGHTS)
  const exchange = { peers, promiseLeaseMs, openPool, fencer }
  const given = defined({ peerAddress, securePeerAddress, ...exchange, oomKills: openOomKills(log) })
  const machine = {
    host: createHostVolumes(cgroup),
    freezer: createWriterFreezer(cgroup),
    cgroup,
    usage: createUsageReader(folder),
    disk: createDiskReader(),
  }
  const agent = await startAgent({ state, folder, engine, startSession, router, ...machine, ...given, log })
  log.info({ node: state.nodeName, id: state.nodeId, server: state.server }, 'agent started')
  // The agent is ready without its server: it keeps the containers running and reconnects.
  if (process.env['RUNTIME_DIRECTORY']) noteReady(process.env['RUNTIME_DIRECTORY'], log)
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  log.info({}, 'agent stopping, containers keep running')
  await agent.close()
  return 0
}

/** Log lines that wait while the output cannot be written, as on a full disk; older ones are dropped. */
const MAX_WAITING_LOG = 256 * 1024

/** An output that cannot be written must not end the agent. */
function openLogOutput(): pino.DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: MAX_WAITING_LOG })
  output.on('error', () => {})
  return output
}

function noteReady(folder: string, log: pino.Logger): void {
  try {
    writeFileSync(join(folder, READY_FILE), '')
  } catch (error) {
    log.error({ folder, message: String(error) }, 'ready file not written, the unit waits for it in vain')
  }
}

const HELP_WORDS = ['help', '--help', '-h']

async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.some((word) => HELP_WORDS.includes(word))) {
    process.stdout.write(USAGE)
    return
  }
  const line = readCommandLine(words, process.env)
  if (line.command === 'enroll') await runEnroll(line)
  else process.exitCode = await run(line)
}

/** Prints an error and exits. Errors that the operator can fix are printed as a sentence, others with their stack. */
function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(error instanceof UsageError ? 2 : 1)
}

function explain(error: unknown): string {
  if (error instanceof EngineError) return `The Docker Engine failed: ${error.message}`
  if (error instanceof EnrollmentFailed) return error.message
  if (error instanceof UsageError) return `${error.message} See: holdfast-agent --help`
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

await main().catch(fail)
