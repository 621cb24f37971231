// The change stream: the names of changed records, so that a reader knows what to read again. It never contains the records.

import { boolean, described, type Infer, list, object, oneOf, optional, string } from '../shapes/shape.ts'

/** The resources whose changes the stream reports: the first word of the path under which each is read. */
export const CHANGED_RESOURCES = [
  'deployments',
  'jobs',
  'nodes',
  'volumes',
  'networks',
  'backups',
  'secrets',
  'registries',
  'quotas',
  'tokens',
  'tenants',
  'events',
  'audit',
] as const
export type ChangedResource = (typeof CHANGED_RESOURCES)[number]

export const changedRecordShape = object({
  resource: oneOf(CHANGED_RESOURCES),
  name: string({
    description: 'Name of the record; empty for a resource whose records are not named one by one',
  }),
  uid: string({ description: 'Id of the record; its name if it has no id or was removed' }),
  gone: described('True if the record was removed; absent otherwise', optional(boolean())),
})
export type ChangedRecord = Infer<typeof changedRecordShape>

/** The data of a message `changes`. A record that changed several times is listed once. */
export const changesShape = object({ items: list(changedRecordShape) })
export type Changes = Infer<typeof changesShape>

/** The data of a message `resync`: changes were missed, so everything that is shown must be read again. */
export const resyncShape = object({ reason: string({ description: 'Why, in one word; safe to branch on' }) })
