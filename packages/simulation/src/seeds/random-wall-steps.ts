// Generates steps of wall clocks for a script of failures. They come from random numbers of their own, so that the script
// around them is the same with and without them.

import { PRIMARY_OF, type ScriptCluster, type Step } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf } from './choose.ts'

export const MOST_WALL_MS = 600_000
export const LONGEST_WALL_STEP_MS = 60_000
const LEAST_STEPS = 5
const MOST_STEPS = 25
/** By then the volumes exist and have a writer. */
const FIRST_MS = 10_000

export function randomWallSteps(random: Random, cluster: ScriptCluster, steps: readonly Step[]): Step[] {
  const lastMs = Math.max(FIRST_MS, ...steps.map(({ at }) => at))
  const turns = between(random, LEAST_STEPS, MOST_STEPS)
  const next = () => nextSteps(random, cluster, between(random, FIRST_MS, lastMs))
  return Array.from({ length: turns }, next).flat()
}

/** One clock, or those of all servers together, which then agree with each other and not with the machines. */
function nextSteps(random: Random, { servers = [], nodes }: ScriptCluster, at: number): Step[] {
  const how = { at, byMs: between(random, -MOST_WALL_MS, MOST_WALL_MS), forMs: lastingMs(random) }
  if (chance(random, 25)) return servers.map((server) => ({ ...how, do: 'server-wall-step', server }))
  if (chance(random, 50)) return [{ ...how, do: 'server-wall-step', server: oneOf(random, servers) }]
  const names = [`${PRIMARY_OF}data`, ...nodes.map(({ name }) => name)]
  return [{ ...how, do: 'wall-step', node: oneOf(random, names) }]
}

const lastingMs = (random: Random): number => between(random, 500, LONGEST_WALL_STEP_MS)
