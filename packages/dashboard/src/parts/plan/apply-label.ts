// The label of the button that sends a change. It names the effects, so that no person must guess them.

import type { Effects, PlanStep } from '@holdfast/contract'
import { texts } from '../../texts/en.ts'

interface Plan {
  readonly steps: readonly PlanStep[]
  readonly effects: Pick<Effects, 'moves' | 'restarts' | 'stops'>
}

/** Replicas that start without replacing another one. */
export const startsOf = ({ steps }: Pick<Plan, 'steps'>): number =>
  steps.filter(({ kind }) => kind === 'start').reduce((sum, { replicas }) => sum + replicas.length, 0)

export function applyLabel(verb: string, plan: Plan): string {
  const { acts } = texts.plan
  const { restarts, moves, stops } = plan.effects
  const named = [
    { count: restarts.length, name: acts.recreate },
    { count: startsOf(plan), name: acts.start },
    { count: moves.length, name: acts.move },
    { count: stops.length, name: acts.stop },
  ].filter(({ count }) => count > 0)
  const effects = named.length === 0 ? acts.nothing : named.map(({ count, name }) => name(count)).join(', ')
  return `${verb}: ${effects}`
}
