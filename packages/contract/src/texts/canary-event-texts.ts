// When each event of a canary is emitted, and what its `data` holds.

import type { EventDescription } from '../api/volume-event-descriptions.ts'

const COUNTS = {
  replicas: 'replicas of the canary',
  weight: 'its share of routed requests, in percent',
}

export const CANARY_EVENT_DESCRIPTIONS = {
  'deployment.canary_started': {
    when: 'a client starts a canary',
    severity: ['info'],
    subjects: ['Deployment'],
    data: { fields: 'the fields that it changes', ...COUNTS, observe: 'how long it is observed' },
  },
  'deployment.canary_ready': {
    when: 'a canary has served for its time of observation without a failure',
    next: 'Promote it with `holdfast rollout canary promote NAME`, or abort it.',
    severity: ['info'],
    subjects: ['Deployment'],
    data: COUNTS,
  },
  'deployment.canary_promoted': {
    when: 'a client promotes a canary: its change is stored as a revision, which keeps its replicas',
    severity: ['info'],
    subjects: ['Deployment'],
    data: { revision: 'the new revision', forced: 'whether it was promoted before it was ready' },
  },
  'deployment.canary_aborted': {
    when: 'a canary ends without promotion; `reason` is `aborted` by a client, `superseded` by another revision, or the failure of a replica',
    next: 'Read the cause in the event. The replicas of the deployment keep serving.',
    severity: ['info', 'warning'],
    subjects: ['Deployment'],
    data: {
      replica: 'number of the failed replica; only of a failure',
      nodeId: 'id of its node; only of a failure',
      nodeName: 'name of its node; only of a failure',
      cause: 'why the container failed, in words and at most 1 KiB; absent if it is not known',
      summary: 'the refusals of the nodes in one sentence; only of a replica without a node',
      candidates: 'every node with its refusals; only of a replica without a node',
    },
  },
} satisfies { readonly [type: string]: EventDescription }
