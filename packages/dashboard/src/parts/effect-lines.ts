// The effects of a planned change as lines, the gravest first: data lost, service lost, then moves and restarts.

import type { Effects } from '@holdfast/contract'
import { texts } from '../texts/en.ts'
import { wordsOf } from '../texts/show-value.ts'

export interface EffectLine {
  readonly severity: 'error' | 'warning' | 'info'
  readonly text: string
  /** The deployment that the line is about. */
  readonly deployment?: string
}

export function effectLines(effects: Effects): EffectLine[] {
  const { lostData, unrouted, unplaced, stops, moves, restarts, lowestReady, omitted } = effects
  return [
    ...lostData.map(
      ({ volume, reason }): EffectLine => ({
        severity: 'error',
        text: texts.effects.lost(volume, reason),
      }),
    ),
    ...unrouted.map(
      ({ deployment, host, path, reason }): EffectLine => ({
        severity: 'error',
        text: texts.effects.unrouted(`${host}${path}`, wordsOf(reason)),
        deployment,
      }),
    ),
    ...unplaced.map(
      ({ deployment, replicas, reason }): EffectLine => ({
        severity: 'warning',
        text: texts.effects.unplaced(replicas, reason),
        deployment,
      }),
    ),
    ...stops.map(
      ({ deployment, replica, node }): EffectLine => ({
        severity: 'warning',
        text: texts.effects.stops(replica, node),
        deployment,
      }),
    ),
    ...moves.map(
      ({ deployment, replica, from, to }): EffectLine => ({
        severity: 'info',
        text: texts.effects.moves(replica, from, to),
        deployment,
      }),
    ),
    ...restarts.map(
      ({ deployment, replica, to }): EffectLine => ({
        severity: 'info',
        text: texts.effects.restarts(replica, to),
        deployment,
      }),
    ),
    ...lowestReady.map(
      ({ deployment, ready, desired }): EffectLine => ({
        severity: ready < desired ? 'warning' : 'info',
        text: texts.effects.lowest(ready, desired),
        deployment,
      }),
    ),
    ...omitted.map(
      ({ deployment, reason }): EffectLine => ({
        severity: 'info',
        text: texts.effects.omitted(reason),
        deployment,
      }),
    ),
  ]
}
