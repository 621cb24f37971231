// Generates the script of a seed. A seed always gives the same cluster and the same steps.

import type { Script, ScriptCluster, Step } from '../script/script.ts'
import { createRandom } from '../time/random.ts'
import { randomCanaryCluster, randomCanarySteps } from './random-canary-steps.ts'
import { randomCluster, randomVolumeCluster } from './random-cluster.ts'
import { creationCluster, creationSteps } from './random-creation-steps.ts'
import { randomFailureCluster, randomFailureSteps } from './random-failure-steps.ts'
import { withJobSteps } from './random-job-steps.ts'
import { manyJobsCluster, manyJobsSteps } from './random-many-jobs.ts'
import { randomNetworkCluster, randomNetworkSteps } from './random-network-steps.ts'
import { randomScalingCluster, randomScalingSteps } from './random-scaling-steps.ts'
import { randomSteps } from './random-steps.ts'
import { storeCutCluster, storeCutSteps } from './random-store-cuts.ts'
import { randomVolumeSteps } from './random-volume-steps.ts'
import { randomVotingSteps } from './random-voting-steps.ts'
import { LONGEST_WALL_STEP_MS, MOST_WALL_MS, randomWallSteps } from './random-wall-steps.ts'

/** Time to settle: longer than the longest server fault, a missed grace period and a rollout together. */
const SETTLE_MS = 130_000

/** One seed in so many has volumes. */
export const VOLUME_EVERY = 4

/** One seed in so many has jobs, from this one on; never one with volumes. */
export const JOB_EVERY = 12
export const FIRST_JOB_SEED = 5

/** One seed in so many has scaling policies, from this one on; never one with volumes or jobs. */
export const SCALING_EVERY = 12
export const FIRST_SCALING_SEED = 9
/** The last load lasts for the longest delay, a mean of a minute and several rounds of 30 s. */
const SCALING_SETTLE_MS = 470_000

/** One seed in so many has canaries, from this one on; never one with volumes, jobs or scaling policies. */
export const CANARY_EVERY = 12
export const FIRST_CANARY_SEED = 11
/** One script of canaries in so many has the timings of real servers. */
const CANARY_TRUE_PACE_EVERY = 24

/** One seed in so many has networks, from this one on; never one with volumes, jobs alone, scaling policies or canaries. */
export const NETWORK_EVERY = 12
export const FIRST_NETWORK_SEED = 3
/** Containers on a machine that was enrolled again are removed after two minutes, and their networks 30 s later. */
const NETWORK_SETTLE_MS = 190_000

/** Seeds from this one on are scripts of failures around volumes with writers, which last many times longer. */
export const FIRST_FAILURE_SEED = 1_000_000_000
/** One script of failures in so many has the timings of real servers. */
const TRUE_PACE_EVERY = 4
/** Also enough for two promotions one after the other, and for new copies afterwards. */
const FAILURES_SETTLE_MS = 220_000
/** A settled cluster is watched for a minute, which is longer than a process stays dead or a wall clock wrong. */
const REST_MS = 61_000
/** One script in so many is watched for the whole time to settle. */
const WHOLE_SETTLE_EVERY = 9
/** One script of failures in so many also steps wall clocks. */
const WALL_STEPS_EVERY = 5
/** One script of failures in so many ends with changes while a copy votes, unless it steps wall clocks. */
const VOTING_EVERY = 3
/** A record with a time in the future delays work that is due after it, so such a cluster has longer to settle. */
const WALL_SETTLE_MS = FAILURES_SETTLE_MS + LONGEST_WALL_STEP_MS + MOST_WALL_MS

/** Seeds from this one on are scripts with many jobs. */
export const FIRST_MANY_JOBS_SEED = 2_000_000_000
/** With the time before the last step: longer than a failed node and several attempts with their timeouts. */
const MANY_JOBS_SETTLE_MS = 250_000

/** Seeds from this one on are scripts in which servers lose the store for minutes. */
export const FIRST_STORE_CUT_SEED = 3_000_000_000
/** One script of cuts in so many has the timings of real servers. */
const STORE_CUT_TRUE_PACE_EVERY = 8

/** Seeds from this one on are scripts in which machines cannot create containers. */
export const FIRST_CREATION_SEED = 4_000_000_000
/** A node is avoided for ten minutes, and what waits for it is placed and rolled out after that. */
const CREATION_SETTLE_MS = 12 * 60_000

/** A cluster that has settled is watched for longer than the longest fault of a server, in most scripts. */
const QUIET_MS = 45_000

export function randomScript(seed: number): Script {
  const random = createRandom(seed, 'script')
  if (seed >= FIRST_CREATION_SEED) {
    const cluster = creationCluster(random)
    const steps = creationSteps(random, cluster)
    return { seed, cluster, steps, settleMs: CREATION_SETTLE_MS, restMs: QUIET_MS, pace: 'coarse' }
  }
  if (seed >= FIRST_STORE_CUT_SEED) {
    const cluster = storeCutCluster(random)
    const steps = storeCutSteps(random, cluster)
    const pace = seed % STORE_CUT_TRUE_PACE_EVERY === 0 ? 'true' : 'coarse'
    return { seed, cluster, steps, settleMs: SETTLE_MS, restMs: REST_MS, pace }
  }
  if (seed >= FIRST_MANY_JOBS_SEED) {
    const cluster = manyJobsCluster()
    const steps = manyJobsSteps(random, cluster)
    return { seed, cluster, steps, settleMs: MANY_JOBS_SETTLE_MS, pace: 'coarse' }
  }
  if (seed >= FIRST_FAILURE_SEED) {
    const cluster = randomFailureCluster(random)
    const steps = randomFailureSteps(random, cluster)
    const pace = seed % TRUE_PACE_EVERY === 0 ? 'true' : 'coarse'
    const rest = seed % WHOLE_SETTLE_EVERY === 0 ? {} : { restMs: REST_MS }
    const further = furtherSteps(seed, cluster, steps)
    const settleMs = seed % WALL_STEPS_EVERY === 0 ? WALL_SETTLE_MS : FAILURES_SETTLE_MS
    return { seed, cluster, steps: [...steps, ...further].sort(byTime), settleMs, ...rest, pace }
  }
  if (seed % JOB_EVERY === FIRST_JOB_SEED) {
    const cluster = randomCluster(random)
    const steps = withJobSteps(createRandom(seed, 'jobs'), cluster, randomSteps(random, cluster))
    return { seed, cluster, steps, settleMs: SETTLE_MS, ...restOf(seed) }
  }
  if (seed % SCALING_EVERY === FIRST_SCALING_SEED) {
    const cluster = randomScalingCluster(random)
    const steps = randomScalingSteps(random, cluster)
    return { seed, cluster, steps, settleMs: SCALING_SETTLE_MS, pace: 'coarse' }
  }
  if (seed % CANARY_EVERY === FIRST_CANARY_SEED) {
    const cluster = randomCanaryCluster(random)
    const steps = randomCanarySteps(random, cluster)
    const pace = seed % CANARY_TRUE_PACE_EVERY === FIRST_CANARY_SEED ? 'true' : 'coarse'
    return { seed, cluster, steps, settleMs: SETTLE_MS, ...restOf(seed), pace }
  }
  if (seed % NETWORK_EVERY === FIRST_NETWORK_SEED) {
    const cluster = randomNetworkCluster(random)
    const steps = randomNetworkSteps(random, cluster)
    return { seed, cluster, steps, settleMs: NETWORK_SETTLE_MS, ...restOf(seed), pace: 'coarse' }
  }
  const hasVolumes = seed % VOLUME_EVERY === 0
  const cluster = hasVolumes ? randomVolumeCluster(random) : randomCluster(random)
  const steps = hasVolumes ? randomVolumeSteps(random, cluster) : randomSteps(random, cluster)
  return { seed, cluster, steps, settleMs: SETTLE_MS, ...restOf(seed) }
}

const restOf = (seed: number) => (seed % WHOLE_SETTLE_EVERY === 0 ? {} : { restMs: QUIET_MS })

const byTime = (one: Step, other: Step): number => one.at - other.at

/** Steps that some scripts of failures have beside their own. */
function furtherSteps(seed: number, cluster: ScriptCluster, steps: readonly Step[]): Step[] {
  if (seed % WALL_STEPS_EVERY === 0) return randomWallSteps(createRandom(seed, 'wall'), cluster, steps)
  if (seed % VOTING_EVERY === 0) return randomVotingSteps(createRandom(seed, 'voting'), cluster, steps)
  return []
}
