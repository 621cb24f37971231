// Events, audit entries and archived revisions: the history of a tenant.

import type { TenantId, TokenId } from '../ids.ts'
import type { Json } from '../json/json.ts'
import {
  branded,
  described,
  type Infer,
  integer,
  json,
  map,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { deploymentSpecShape } from './deployment.ts'
import { ROLES } from './tenant.ts'

export const EVENT_TYPES = [
  'deployment.created',
  'deployment.updated',
  'deployment.scheduled',
  'deployment.unschedulable',
  'deployment.displaced',
  'deployment.progressing',
  'deployment.running',
  'deployment.degraded',
  'deployment.stalled',
  'deployment.stopped',
  'deployment.deleted',
  'deployment.rolled_back',
  'deployment.failed',
  'deployment.scaled',
  'deployment.canary_started',
  'deployment.canary_ready',
  'deployment.canary_promoted',
  'deployment.canary_aborted',
  'image.unreachable',
  'image.digest_missing',
  'image.digest_fixed',
  'secret.written',
  'secret.rotation_advanced',
  'secret.rotation_aborted',
  'secret.unresolved',
  'volume.created',
  'volume.ready',
  'volume.degraded',
  'volume.promoted',
  'volume.divergence_preserved',
  'volume.lost',
  'volume.replica_added',
  'volume.resized',
  'volume.replica_removed',
  'volume.handed_over',
  'volume.fenced',
  'volume.deleted',
  'network.created',
  'network.ready',
  'network.failed',
  'network.deleted',
  'node.enrolled',
  'node.ready',
  'node.unreachable',
  'node.failed',
  'node.degraded',
  'node.recovered',
  'node.cordoned',
  'node.drained',
  'node.claim_released',
  'node.labels_changed',
  'node.labels_refused',
  'node.address_refused',
  'node.orphans_found',
  'job.created',
  'job.started',
  'job.succeeded',
  'job.failed',
  'job.cancelled',
  'backup.created',
  'backup.restored',
  'backup.deleted',
  'quota.reached',
  'recommendation.applied',
  'tenant.created',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const SEVERITIES = ['info', 'warning', 'error'] as const
export type Severity = (typeof SEVERITIES)[number]

export const eventShape = object({
  id: string({ description: 'Unique in the tenant; the same event is never emitted twice' }),
  type: oneOf(EVENT_TYPES),
  tenant: branded<TenantId>({ description: 'Id of the tenant' }),
  time: string({ description: 'When it happened, RFC 3339 in UTC' }),
  severity: oneOf(SEVERITIES),
  subject: object({
    kind: string({
      description: 'Kind of the record: Backup, Deployment, Job, Network, Node, Secret, Tenant, Volume',
    }),
    name: string({ description: 'Name of the record' }),
    uid: string({ description: 'Id of the record' }),
  }),
  reason: string({ description: 'Why, in one word; safe to branch on' }),
  message: string({ description: 'What happened, for people; never branch on it' }),
  data: described('Facts about this type of event', json<Json>()),
  audit: described(
    'Id of the audit entry of the request that caused the event; absent if no request did',
    optional(string()),
  ),
})
export type Event = Infer<typeof eventShape>

/** An event in a list. Repeated equal events are merged into one item, which has the cursor of the newest event. */
export const listedEventShape = object({
  ...eventShape.fields,
  cursor: string({ description: 'Position in the event log, for paging' }),
  count: integer({ description: 'How many equal events are folded into this one' }),
  firstSeen: string({ description: 'Time of the first of them' }),
  lastSeen: string({ description: 'Time of the last of them' }),
})
export type ListedEvent = Infer<typeof listedEventShape>

export const auditEntryShape = object({
  /** Id of the store transaction that wrote the audit entry. */
  id: string(),
  time: string(),
  tenant: branded<TenantId>(),
  actor: object({
    token: branded<TokenId>(),
    /** The name of the token when it was used; absent in older entries. */
    name: optional(string()),
    role: oneOf(ROLES),
  }),
  /** True if a platform administrator acted in a tenant selected by X-Tenant-ID or by the path. */
  onBehalf: json<boolean>(),
  action: string({ description: 'resource:verb' }),
  subject: object({ kind: string(), name: string() }),
  requestId: string(),
  revision: optional(integer()),
  /** Further facts about the audited request. Command arguments are left out, because they may contain secrets. */
  detail: optional(map(string())),
})
export type AuditEntry = Infer<typeof auditEntryShape>

export const archiveEntryShape = object({
  name: string(),
  uid: string(),
  revision: integer(),
  specHash: string(),
  createdAt: string(),
  author: branded<TokenId>(),
  /** The name of the author's token when the revision was stored; absent in older entries. */
  authorName: optional(string()),
  spec: deploymentSpecShape,
  /** The digest to which the revision's image was pinned; absent if no registry had resolved the image yet. */
  digest: optional(string()),
})
export type ArchiveEntry = Infer<typeof archiveEntryShape>
