// Texts of canaries. A deployment keeps its own fields until its canary is promoted.

import { formatCount } from '../format.ts'

export const canaryPlanTexts = {
  start:
    'Only the replicas of the canary get these fields. The deployment changes when you promote the canary.',
  abort: 'The replicas of the canary stop. The deployment keeps its fields.',
} as const

export const canaryTexts = {
  title: (phase: string, reason: string) => `Canary: ${phase}${reason === '' ? '' : ` (${reason})`}`,
  size: (replicas: number, weight: number) =>
    `${formatCount(replicas, 'replica')} with ${weight} % of the requests,`,
  observed: (time: string) => `observed for ${time},`,
  since: 'in this phase since',
  fields: 'It changes',
  failure: (replica: number, reason: string, cause: string | undefined) =>
    `Replica ${replica} failed: ${reason}${cause === undefined ? '' : `. ${cause}`}`,
  promote: 'Promote the canary',
  abort: 'Abort the canary',
} as const
