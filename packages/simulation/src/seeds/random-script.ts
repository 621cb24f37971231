// Generates the script of a seed. A seed always gives the same cluster and the same steps.

import type { Script } from '../script/script.ts'
import { createRandom } from '../time/random.ts'
import { randomCluster } from './random-cluster.ts'
import { randomSteps } from './random-steps.ts'

/** Time to settle: longer than the longest server fault, a missed grace period and a rollout together. */
const SETTLE_MS = 130_000

export function randomScript(seed: number): Script {
  const random = createRandom(seed, 'script')
  const cluster = randomCluster(random)
  return { seed, cluster, steps: randomSteps(random, cluster), settleMs: SETTLE_MS }
}
