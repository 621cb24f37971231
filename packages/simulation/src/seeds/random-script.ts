// The script of a seed: always the same cluster and the same steps.

import type { Script } from '../script/script.ts'
import { createRandom } from '../time/random.ts'
import { randomCluster } from './random-cluster.ts'
import { randomSteps } from './random-steps.ts'

/** Longer than the longest server fault, a missed grace period and the rollout after it together. */
const SETTLE_MS = 130_000

export function randomScript(seed: number): Script {
  const random = createRandom(seed, 'script')
  const cluster = randomCluster(random)
  return { seed, cluster, steps: randomSteps(random, cluster), settleMs: SETTLE_MS }
}
