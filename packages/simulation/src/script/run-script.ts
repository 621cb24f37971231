// Runs a script through the real controllers. An equal script and seed give an identical story and trace.

import { hasVolumes, paceOf, registriesOf, residencyOf, usesNetworks } from '../cluster/given-world.ts'
import { setUp } from '../cluster/set-up.ts'
import type { Snapshot, Violation } from '../cluster/snapshot.ts'
import { createWorld, snapshotOf, type World } from '../cluster/world.ts'
import { createMemoryKeyspace, type MemoryKeyspace } from '../memory/keyspace.ts'
import { createRandom } from '../time/random.ts'
import type { StoryLine } from '../time/trace.ts'
import { installVirtualTime } from '../time/virtual-time.ts'
import type { Script } from './script.ts'
import { takeStep } from './take-step.ts'

export interface RunOptions {
  /** Seed of all random values and ids in the run. */
  readonly seed: number
  /** Checks a snapshot after every virtual event that changed a record or a machine. The first violation ends the run. */
  readonly check?: (snapshot: Snapshot) => readonly Violation[]
  /** Whether all faults are over and every end-state invariant holds. Asked after the last step of a script with `restMs`. */
  readonly isSettled?: () => boolean
  /** Wraps the store that all servers share, for a test that changes what the servers write. */
  readonly wrapStore?: (keyspace: MemoryKeyspace) => MemoryKeyspace
}

export interface RunResult {
  readonly story: readonly StoryLine[]
  /** SHA-256 over all lines of the story, all writes with revisions and all messages between agents and servers. */
  readonly traceHash: string
  readonly violations: readonly Violation[]
  /** Number of stored events, by type. */
  readonly events: ReadonlyMap<string, number>
  /** Number of virtual events that ran. */
  readonly steps: number
  /** Number of times that the invariants were checked. */
  readonly checks: number
  /** Number of faults that the steps have caused. */
  readonly failures: number
}

/** Start of virtual time, fixed so that ids and records of two runs are equal. */
const STARTED_AT = Date.UTC(2026, 0, 1)
const SETTLE_MS = 180_000
const SHORT_STACK = 4
const MOST_SET_UP_MS = 120_000
const REST_CHECK_MS = 2_000

/** Runs a script. Only one run at a time per process, because a run replaces the timers and clocks of the process. */
export async function runScript(script: Script, options: RunOptions): Promise<RunResult> {
  const { seed } = options
  const time = installVirtualTime(STARTED_AT, createRandom(seed, 'product'), paceOf(script).coarseMs)
  const residency = residencyOf(script)
  const registries = registriesOf(script)
  const keyspace = (options.wrapStore ?? ((unchanged) => unchanged))(createMemoryKeyspace())
  const pace = paceOf(script)
  const volumesEnabled = hasVolumes(script)
  const hasNetworks = usesNetworks(script)
  const given = { residency, registries, pace, volumesEnabled, hasNetworks }
  const world = createWorld({ seed, time, keyspace, ...given })
  const checking = createChecking(world, options.check)
  const { stackTraceLimit } = Error
  // Product code creates an error for each deadline, even if the deadline is met; short stack traces make this cheaper.
  Error.stackTraceLimit = SHORT_STACK
  const stopListening = listenForRejections(checking.fail)
  try {
    await runWhole(script, world, checking, options.isSettled)
    return checking.result()
  } finally {
    stopListening()
    time.uninstall()
    Error.stackTraceLimit = stackTraceLimit
  }
}

async function runWhole(
  script: Script,
  world: World,
  checking: Checking,
  isSettled: RunOptions['isSettled'],
): Promise<void> {
  const { time } = world
  const upBy = time.elapsedMs + MOST_SET_UP_MS
  let up = false
  const ready = setUp(world, script).then(() => {
    up = true
  })
  ready.catch(checking.fail)
  await time
    .runUntil(upBy, () => checking.settled() || (up && checking.allReady(script)))
    .catch(checking.fail)
  if (checking.isOver) return
  if (!up) throw new Error('the cluster of the script did not come up')
  world.startedMs = time.elapsedMs
  for (const step of script.steps) time.plan(step.at, undefined, () => takeStep(world, step, checking.fail))
  const last = Math.max(0, ...script.steps.map(({ at }) => at))
  world.troubledUntilMs = world.startedMs + last
  const until = world.startedMs + last + (script.settleMs ?? SETTLE_MS)
  const { restMs } = script
  const isAtRest =
    restMs === undefined || isSettled === undefined
      ? () => false
      : createRest(world.startedMs + last, restMs, isSettled)
  const isOver = () => checking.settled() || isAtRest(time.elapsedMs)
  await time.runUntil(until, isOver).catch(checking.fail)
}

/** Returns true once the cluster has been settled whenever it was checked for the given time after the last step. */
function createRest(
  fromMs: number,
  restMs: number,
  isSettled: () => boolean,
): (elapsedMs: number) => boolean {
  let [nextMs, restingSinceMs] = [fromMs, Number.POSITIVE_INFINITY]
  return (elapsedMs) => {
    if (elapsedMs < nextMs) return false
    nextMs = elapsedMs + REST_CHECK_MS
    restingSinceMs = isSettled() ? Math.min(restingSinceMs, elapsedMs) : Number.POSITIVE_INFINITY
    return elapsedMs - restingSinceMs >= restMs
  }
}

interface Checking {
  readonly isOver: boolean
  /** Called after each virtual event. Returns true if the simulation run must end. */
  settled(): boolean
  allReady(script: Script): boolean
  /** Ends the run with an error that would have ended a real process. */
  fail(error: unknown): void
  result(): RunResult
}

function createChecking(world: World, check: RunOptions['check']): Checking {
  let checks = 0
  let violations: readonly Violation[] = []
  const { trace, time, mirror } = world
  const fail = (error: unknown): void => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    violations = [...violations, { invariant: 'no-crash', subject: 'server', message }]
  }
  return {
    fail,
    get isOver() {
      return violations.length > 0
    },
    settled() {
      if (violations.length > 0) return true
      if (!world.touched || check === undefined) return false
      world.touched = false
      checks += 1
      violations = check(snapshotOf(world))
      return violations.length > 0
    },
    allReady: ({ cluster }) =>
      mirror.records().nodes.filter(({ record }) => record.status === 'ready').length ===
      cluster.nodes.length,
    result: () => ({
      story: trace.story,
      violations,
      events: countEvents(mirror.records().events),
      steps: time.steps,
      checks,
      failures: world.failures,
      traceHash: trace.hash(),
    }),
  }
}

function countEvents(events: Snapshot['events']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { record } of events) counts.set(record.type, (counts.get(record.type) ?? 0) + 1)
  return counts
}

function listenForRejections(fail: (error: unknown) => void): () => void {
  process.prependListener('unhandledRejection', fail)
  return () => process.removeListener('unhandledRejection', fail)
}
