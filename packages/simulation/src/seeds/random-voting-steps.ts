// Generates changes while a copy votes, at the end of a script of failures: the primary is silent and the store slow. Then the
// node of another copy is drained, which changes the version that votes name, or the primary reaches its copies again. The
// steps come from random numbers of their own.

import { PRIMARY_OF, type ScriptCluster, type Step } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf } from './choose.ts'

const TURNS = 2
/** Copies become current and promotable again, and a group is promoted at most once a minute. */
const CALM_MS = 75_000
/** When a copy votes after its primary has lost power: its promise has expired and its report has arrived. */
const VOTING_MS = [16_500, 21_500] as const
const DRAINED_MS = 6_000
const PRIMARY = `${PRIMARY_OF}data`

export function randomVotingSteps(random: Random, cluster: ScriptCluster, steps: readonly Step[]): Step[] {
  const lastMs = Math.max(...steps.map(({ at }) => at))
  const copied = steps.flatMap((step): Step[] =>
    step.do === 'volume'
      ? [{ at: lastMs + 100, do: 'volume-replicas', tenant: step.tenant, volume: step.volume, replicas: 2 }]
      : [],
  )
  const turns = Array.from({ length: TURNS }, (_, index) =>
    turnAt(random, cluster, lastMs + CALM_MS * (index + 1) + between(random, 0, 2_000)),
  )
  return [...copied, ...turns.flat()]
}

function turnAt(random: Random, { servers = [], nodes }: ScriptCluster, at: number): Step[] {
  const votedMs = between(random, ...VOTING_MS)
  const slow = { at: at + 12_000, forMs: 12_000, delayMs: between(random, 300, 1_500) }
  const silent = chance(random, 50)
    ? returning(at, votedMs)
    : drained(random, oneOf(random, nodes).name, at, votedMs)
  return [...silent, ...servers.map((server): Step => ({ ...slow, do: 'store-slow', server }))]
}

/** The primary reaches its copies again while one of them votes, and no server. */
const returning = (at: number, votedMs: number): Step[] => [
  { at, do: 'network-cut', node: PRIMARY, forMs: votedMs },
  { at, do: 'servers-cut', node: PRIMARY, forMs: 2 * votedMs },
]

const drained = (random: Random, node: string, at: number, votedMs: number): Step[] => [
  { at, do: 'power-cut', node: PRIMARY, forMs: between(random, 25_000, 40_000) },
  { at: at + votedMs, do: 'drain', node },
  { at: at + votedMs + DRAINED_MS, do: 'uncordon', node },
]
