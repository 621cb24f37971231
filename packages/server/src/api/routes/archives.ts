// The endpoints below /api/v1/archives: earlier revisions of a deployment.

import { archiveEntryShape } from '@holdfast/contract'
import { getArchived, listArchive } from '../../operations/deployments/read/read-deployments.ts'
import type { Store } from '../../store/store.ts'
import { type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'

export function archiveEndpoints(store: Store): Endpoint[] {
  return [
    listEndpoint('/api/v1/archives/deployments/{name}', {
      operation: 'listRevisions',
      action: 'archives:read',
      summary: 'List the kept revisions of a deployment, oldest first',
      item: archiveEntryShape,
      codes: ['archive_not_found'],
      run: (request) => listArchive(store, request.caller.tenant, param(request, 'name'), request.query),
    }),
    endpoint('GET', '/api/v1/archives/deployments/{name}/{revision}', {
      operation: 'getRevision',
      action: 'archives:read',
      summary: 'Read one revision of a deployment as it was stored',
      shape: archiveEntryShape,
      codes: ['archive_not_found'],
      run: (request) =>
        getArchived(store, request.caller.tenant, param(request, 'name'), param(request, 'revision')),
    }),
  ]
}
