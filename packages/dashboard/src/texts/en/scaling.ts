// The texts of scaling policies.

import { formatCount } from '../format.ts'

export const scaling = {
  title: 'Scaling',
  none: 'No scaling policy: the number of replicas is the one in the manifest.',
  noneNext:
    'With a policy, the usage decides: replicas are added while each uses more than the target, and removed after a delay. The deployment must request what is measured, in resources.',
  now: 'What the policy wants',
  desired: 'Desired now',
  wanted: 'Wanted for the usage',
  unknown: 'unknown',
  usage: 'Usage',
  used: (measured: number | null, target: number, metric: string) =>
    `${measured === null ? 'unknown' : `${measured} %`} of the requested ${metric}; target ${target} %`,
  samples: 'Measured',
  measured: (measured: number, ready: number) => `${measured} of ${formatCount(ready, 'ready replica')}`,
  silent: 'Nodes without usage',
  bounds: 'Bounds',
  range: (min: number, max: number) => `${min} to ${formatCount(max, 'replica')}`,
  delay: 'Removed after',
  scaledAt: 'Last scaled',
  create: 'Set a policy',
  change: 'Change the policy',
  remove: 'Delete the policy',
  stored: 'The policy is stored.',
  what: (name: string) => `Scaling of ${name}: what would happen`,
  metrics: { cpu: 'CPU', memory: 'memory' },
  fields: {
    min: 'Least replicas',
    max: 'Most replicas',
    targetPercent: 'Target, percent of the request',
    scaleDownDelay: 'Delay before replicas are removed',
    metric: 'Measured resource',
  },
} as const
