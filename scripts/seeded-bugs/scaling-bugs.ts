// Seeded bugs around scaling policies. Only seeds with policies can find them.

import { type Bug, core } from './bug.ts'

export const SCALING_BUGS: readonly Bug[] = [
  {
    name: 'replicas are removed before the delay of their policy is over',
    edits: [core('scaling/scaling-window.ts', '|| now - since < delayMs) return', ') return')],
    seenBy: ['scaling-delay'],
    inScaling: true,
  },
  {
    name: 'a scaling policy adds replicas during a rollout',
    edits: [
      core(
        'scaling/decide-scaling.ts',
        "wanted: number): Step {\n  if (rollout !== 'none') return",
        "wanted: number): Step {\n  if (rollout === 'paused') return",
      ),
    ],
    seenBy: ['scaling-holds'],
    inScaling: true,
  },
]
