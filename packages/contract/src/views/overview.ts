// The overview of a tenant: counts, quotas, rotations, and everything that needs a person, the worst first.

import { ROTATION_PHASES } from '../api/secret.ts'
import { QUOTA_KINDS } from '../api/tenant.ts'
import type { TenantId } from '../ids.ts'
import {
  branded,
  described,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { cureShape } from './why.ts'

/** The most severe one first. */
export const ATTENTION_SEVERITIES = ['error', 'warning', 'info'] as const
export type AttentionSeverity = (typeof ATTENTION_SEVERITIES)[number]

/** Maximum number of items in `attention`. */
export const MAX_ATTENTION = 50

export const attentionShape = object({
  severity: oneOf(ATTENTION_SEVERITIES),
  subject: object({
    kind: string({
      description: 'Kind of the record: Deployment, Job, Network, Node, Quota, Rotation, Volume',
    }),
    name: string(),
    uid: string({ description: 'Id of the record; its name if it has no id' }),
  }),
  code: string({ description: 'Why, in one word; safe to branch on' }),
  text: string({ description: 'Why, for people; never branch on it' }),
  cure: described('The smallest change that helps; absent if none is known', optional(cureShape)),
  since: described('Since when; null if it is not known', nullable(string())),
})
export type Attention = Infer<typeof attentionShape>

const countedShape = (word: string) =>
  object({ total: integer(), counts: described(`Number of records by ${word}`, map(integer())) })

/** The response to GET /overview. */
export const overviewShape = object({
  at: string({ description: 'When the overview was made' }),
  tenant: object({ id: branded<TenantId>(), name: string() }),
  deployments: countedShape('phase'),
  nodes: object({ ...countedShape('status').fields, cordoned: integer() }),
  volumes: countedShape('phase'),
  jobs: countedShape('phase'),
  networks: countedShape('phase'),
  quotas: list(object({ kind: oneOf(QUOTA_KINDS), used: integer(), limit: integer() })),
  rotations: described(
    'Rotations in progress, the oldest first, at most 50',
    list(
      object({
        path: string(),
        phase: oneOf(ROTATION_PHASES),
        since: nullable(string()),
        consumers: list(string({ description: 'Name of a deployment that uses the credential' })),
      }),
    ),
  ),
  recommendations: described('Number of recommendations by priority', map(integer())),
  attention: described(`The worst first, at most ${MAX_ATTENTION}`, list(attentionShape)),
  attentionOmitted: described('Number of items beyond the limit', integer()),
})
export type Overview = Infer<typeof overviewShape>
