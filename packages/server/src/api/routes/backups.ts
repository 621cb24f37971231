// The endpoints below /api/v1/backups: copies of the configuration of deployments.

import { type Backup, backupRecordShape, backupShape, newBackupShape, writtenShape } from '@holdfast/contract'
import { createBackup } from '../../operations/backups/create-backup.ts'
import { BACKUP_REVISION, deleteBackup } from '../../operations/backups/delete-backup.ts'
import { getBackup, listBackups } from '../../operations/backups/read-backups.ts'
import { restoreBackup } from '../../operations/backups/restore-backup.ts'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { type ApiRequest, type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import { ADMISSION_CODES, announcement, changed } from './deployment-responses.ts'

const BACKUPS = '/api/v1/backups'
const ONE = `${BACKUPS}/{id}`
const RESTORE = `${ONE}/restore`

const etagOf = (): string => String(BACKUP_REVISION)

export function backupEndpoints(deps: DeploymentDeps): Endpoint[] {
  return [...readEndpoints(deps), createEndpoint(deps), deleteEndpoint(deps), restoreEndpoint(deps)]
}

function readEndpoints({ store }: DeploymentDeps): Endpoint[] {
  return [
    listEndpoint(BACKUPS, {
      operation: 'listBackups',
      action: 'backups:read',
      summary: 'List the backups of the tenant without their content, oldest first',
      item: backupShape,
      run: ({ caller, query }) => listBackups(store, caller.tenant, query),
    }),
    endpoint('GET', ONE, {
      operation: 'getBackup',
      action: 'backups:read',
      summary: 'Read a backup with its content',
      shape: backupRecordShape,
      codes: ['backup_not_found'],
      run: (request) => getBackup(store, request.caller.tenant, param(request, 'id')),
      etag: etagOf,
    }),
  ]
}

const created = (backup: Backup): KeptAnswer => ({ status: 201, body: backup, etag: etagOf() })

const createEndpoint = (deps: DeploymentDeps): Endpoint =>
  endpoint('POST', BACKUPS, {
    operation: 'createBackup',
    action: 'backups:write',
    summary: 'Copy the configuration of a deployment and its archive; data on volumes is not copied',
    headers: ['Idempotency-Key'],
    body: newBackupShape,
    status: 201,
    shape: backupShape,
    codes: [
      'field_unknown',
      'field_type_invalid',
      'deployment_not_found',
      'quota_exceeded',
      'idempotency_key_reused',
    ],
    handle: (request) =>
      respondOnce(
        deps.answers,
        request,
        BACKUPS,
        (once) => createBackup(deps, request.caller, request.body, kept(once, created)),
        created,
      ),
  })

const deleteEndpoint = (deps: DeploymentDeps): Endpoint =>
  endpoint('DELETE', ONE, {
    operation: 'deleteBackup',
    action: 'backups:write',
    summary: 'Delete a backup; the deployment does not change',
    headers: ['If-Match'],
    status: 202,
    shape: backupShape,
    codes: ['backup_not_found', 'revision_conflict'],
    run: (request) => deleteBackup(deps, request.caller, param(request, 'id'), request.ifMatch),
    etag: etagOf,
  })

const restoreEndpoint = (deps: DeploymentDeps): Endpoint =>
  endpoint('POST', RESTORE, {
    operation: 'restoreBackup',
    action: 'deployments:write',
    summary:
      'Store the spec of a backup as a new revision of its deployment, or create the deployment again; If-Match names a revision of the deployment',
    headers: ['If-Match', 'Idempotency-Key'],
    shape: writtenShape,
    codes: [
      'backup_not_found',
      'deployment_exists',
      'revision_conflict',
      'quota_exceeded',
      'idempotency_key_reused',
      ...ADMISSION_CODES,
    ],
    handle: (request) => restore(deps, request),
  })

function restore(deps: DeploymentDeps, request: ApiRequest) {
  const { caller, ifMatch } = request
  const id = param(request, 'id')
  return respondOnce(
    deps.answers,
    request,
    RESTORE.replace('{id}', id),
    (once) => restoreBackup(deps, caller, id, { ifMatch, ...kept(once, changed) }),
    (written) => ({ ...changed(written), notes: announcement(written) }),
  )
}
