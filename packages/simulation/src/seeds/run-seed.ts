// Runs the script of one seed and checks every invariant after every step and once at the end.

import type { Violation } from '../cluster/snapshot.ts'
import { createInvariants } from '../invariants/index.ts'
import { runScript } from '../script/run-script.ts'
import type { Script } from '../script/script.ts'
import { randomScript } from './random-script.ts'

export interface SeedResult {
  readonly seed: number
  readonly traceHash: string
  /** Violated invariants of the run; empty if every invariant held. */
  readonly violations: readonly Violation[]
  readonly steps: number
  readonly checks: number
  readonly failures: number
  /** Number of volumes that were promoted. */
  readonly promotions: number
  /** Number of events of replicas that left a node which could not create them. */
  readonly moved: number
  /** Number of jobs that were created, and of those by each end. */
  readonly jobs: JobCounts
  /** Number of canaries that were started, became ready, and ended in each way. */
  readonly canaries: CanaryCounts
  /** Number of networks that were created and deleted. */
  readonly networks: NetworkCounts
}

export interface NetworkCounts {
  readonly created: number
  readonly deleted: number
}

export interface CanaryCounts {
  readonly started: number
  readonly ready: number
  readonly promoted: number
  readonly aborted: number
}

export interface JobCounts {
  readonly created: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
}

/** Part of the text of the event about a promotion. */
const PROMOTED = 'became its primary'
const MOVED = 'could not create a container in three attempts'

export const runSeed = (seed: number): Promise<SeedResult> => runGiven(randomScript(seed), seed)

/** Runs a given script, for example a shortened one. An exception in product code is a violation. */
export async function runGiven(script: Script, seed: number): Promise<SeedResult> {
  const invariants = createInvariants(script)
  try {
    const result = await runScript(script, { seed, ...invariants })
    const { traceHash, steps, checks, failures } = result
    const violations = result.violations.length > 0 ? result.violations : invariants.checkEnd()
    const count = (text: string) => result.story.filter(({ message }) => message.includes(text)).length
    const [promotions, moved] = [count(PROMOTED), count(MOVED)]
    return {
      seed,
      traceHash,
      violations,
      steps,
      checks,
      failures,
      promotions,
      moved,
      jobs: countJobs(result.events),
      canaries: countCanaries(result.events),
      networks: countNetworks(result.events),
    }
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const violations = [{ invariant: 'no-crash', subject: 'a server process', message }]
    const none = { steps: 0, checks: 0, failures: 0, promotions: 0, moved: 0 }
    const events = new Map<string, number>()
    const counts = {
      jobs: countJobs(events),
      canaries: countCanaries(events),
      networks: countNetworks(events),
    }
    return { seed, traceHash: '', violations, ...none, ...counts }
  }
}

function countCanaries(events: ReadonlyMap<string, number>): CanaryCounts {
  const count = (type: string): number => events.get(`deployment.canary_${type}`) ?? 0
  return {
    ...{ started: count('started'), ready: count('ready') },
    ...{ promoted: count('promoted'), aborted: count('aborted') },
  }
}

const countNetworks = (events: ReadonlyMap<string, number>): NetworkCounts => ({
  ...{ created: events.get('network.created') ?? 0, deleted: events.get('network.deleted') ?? 0 },
})

function countJobs(events: ReadonlyMap<string, number>): JobCounts {
  const count = (type: string): number => events.get(`job.${type}`) ?? 0
  return {
    ...{ created: count('created'), succeeded: count('succeeded') },
    ...{ failed: count('failed'), cancelled: count('cancelled') },
  }
}
