// Seeded bugs that only seeds with scaling policies can find.

import { type Bug, core } from './bug.ts'

export const SCALING_BUGS: readonly Bug[] = [
  {
    name: 'replicas are removed before the delay of their policy is over',
    edits: [core('scaling/scaling-window.ts', '|| now - since < delayMs) return', ') return')],
    seenBy: ['scaling-delay'],
    scripts: 'scaling',
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
    scripts: 'scaling',
  },
  {
    name: 'draining node of a moved replica not compared on write',
    edits: [
      core(
        'placement/compared-records.ts',
        "dispositionOf(each.nodeId) === 'leaving' && added",
        'false && added',
      ),
    ],
    seenBy: ['no-more-than-desired'],
    scripts: 'scaling',
  },
]
