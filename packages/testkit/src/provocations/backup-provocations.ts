// Requests for backups that are rejected. tests/real/api/catalogue.test.ts sends them.

import type { Provocation } from './provoke.ts'

const BACKUPS = '/api/v1/backups'
const UNKNOWN = `${BACKUPS}/bak_01JD0000000000000000000000`

const notFound = (sent: Provocation['sent']): Provocation => ({ code: 'backup_not_found', field: 'id', sent })

export const BACKUP_PROVOCATIONS: readonly Provocation[] = [
  notFound(() => ({ method: 'GET', path: UNKNOWN })),
  notFound(() => ({ method: 'GET', path: `${BACKUPS}/web` })),
  notFound(() => ({ method: 'DELETE', path: UNKNOWN })),
  notFound(() => ({ path: `${UNKNOWN}/restore` })),
  notFound((w) => ({ as: 'globex', method: 'GET', path: `${BACKUPS}/${w.backupId}` })),
  notFound((w) => ({ as: 'globex', path: `${BACKUPS}/${w.backupId}/restore` })),
  {
    code: 'deployment_not_found',
    field: 'deploymentName',
    sent: () => ({ path: BACKUPS, body: { deploymentName: 'absent' } }),
  },
  {
    code: 'deployment_not_found',
    field: 'deploymentName',
    sent: () => ({ as: 'globex', path: BACKUPS, body: { deploymentName: 'web' } }),
  },
  { code: 'field_type_invalid', field: 'deploymentName', sent: () => ({ path: BACKUPS, body: {} }) },
  {
    code: 'field_type_invalid',
    field: 'deploymentName',
    sent: () => ({ path: BACKUPS, body: { deploymentName: 7 } }),
  },
  {
    code: 'field_unknown',
    field: 'name',
    sent: () => ({ path: BACKUPS, body: { deploymentName: 'web', name: 'nightly' } }),
  },
  {
    code: 'permission_denied',
    field: 'Authorization',
    sent: () => ({ as: 'viewer', path: BACKUPS, body: { deploymentName: 'web' } }),
  },
  {
    code: 'permission_denied',
    field: 'Authorization',
    sent: (w) => ({ as: 'viewer', path: `${BACKUPS}/${w.backupId}/restore` }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: (w) => ({ method: 'DELETE', path: `${BACKUPS}/${w.backupId}`, headers: { 'if-match': '"9"' } }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: (w) => ({ path: `${BACKUPS}/${w.backupId}/restore`, headers: { 'if-match': '"9"' } }),
  },
  {
    code: 'idempotency_key_reused',
    field: 'Idempotency-Key',
    sent: () => ({
      path: BACKUPS,
      body: { deploymentName: 'web' },
      headers: { 'idempotency-key': 'taken' },
    }),
  },
  {
    code: 'quota_exceeded',
    field: 'quotas.backups',
    sent: () => ({ as: 'full', path: BACKUPS, body: { deploymentName: 'only' } }),
  },
]
