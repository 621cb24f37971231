// The script of a seed: the same cluster and the same story each time, however often it is asked for.

import type { Script } from '../script/script.ts'
import { createRandom } from '../time/random.ts'
import { randomCluster } from './random-cluster.ts'
import { randomSteps } from './random-steps.ts'

/** Longer than the longest fault of a server, a missed grace and a rollout after it. */
const SETTLE_MS = 130_000

export function randomScript(seed: number): Script {
  const random = createRandom(seed, 'script')
  const cluster = randomCluster(random)
  return { seed, cluster, steps: randomSteps(random, cluster), settleMs: SETTLE_MS }
}
