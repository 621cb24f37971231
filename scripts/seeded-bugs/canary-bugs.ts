// Seeded bugs around canaries. Only seeds with canaries can find them.

import { type Bug, core } from './bug.ts'

const BUGS: readonly Omit<Bug, 'scripts'>[] = [
  {
    name: 'replicas of a canary counted as replicas of the deployment',
    edits: [
      core(
        'placement/plan-placement.ts',
        'planRollout(desiredDeployment(own, deployment, gated',
        'planRollout(desiredDeployment(own, { ...deployment, spec: { ...deployment.spec, replicas: Math.max(1, deployment.spec.replicas - canary.length) } }, gated',
      ),
    ],
    seenBy: ['canary-beside'],
  },
  {
    name: 'replicas of an aborted canary created again',
    edits: [
      core(
        'placement/plan-canary.ts',
        'const count = isOn ? (state?.replicas ?? 0) : 0',
        'const count = state?.replicas ?? 0',
      ),
    ],
    seenBy: ['canary-count'],
  },
  {
    name: 'replicas of an aborted canary left running',
    edits: [
      core('placement/plan-canary.ts', 'if (!isOn && marked.length === 0) return', 'if (!isOn) return'),
    ],
    seenBy: ['canary-settled'],
  },
  {
    name: 'replicas of a promoted canary not adopted',
    edits: [core('canary/split-assignments.ts', '!hasCanary && desired', 'false && desired')],
    seenBy: ['canary-promotion'],
  },
  {
    name: 'replicas of a superseded canary adopted',
    edits: [core('canary/split-assignments.ts', '!hasCanary && desired', 'desired')],
    seenBy: ['canary-promotion'],
  },
  {
    name: 'adopted replicas keep the revision before the promotion',
    edits: [
      core(
        'canary/split-assignments.ts',
        'revision: target?.revision ?? each.revision',
        'revision: each.revision',
      ),
    ],
    seenBy: ['canary-promotion'],
  },
  {
    name: 'canary ready before its observation has ended',
    edits: [core('canary/advance-canary.ts', 'return now >= endOfObservation(state) ?', 'return now > 0 ?')],
    seenBy: ['canary-phases'],
  },
  {
    name: 'replicas of a canary counted with the requests of the deployment',
    edits: [
      core(
        'canary/replica-requests.ts',
        'isCanaryReplica(replica) ? canaryResources : resources',
        'isCanaryReplica(replica) ? resources : resources',
      ),
    ],
    seenBy: ['fits-node'],
  },
]

export const CANARY_BUGS: readonly Bug[] = BUGS.map((bug) => ({ ...bug, scripts: 'canaries' }))
