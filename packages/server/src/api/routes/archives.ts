// /api/v1/archives: what a deployment looked like before. SPEC 4, DECISIONS 1 and 6.

import { archiveEntryShape, pageShape } from '@holdfast/contract'
import { getArchived, listArchive } from '../../operations/deployments/read/read-deployments.ts'
import type { Store } from '../../store/store.ts'
import { answer, answerWith, type Endpoint, param } from '../endpoint.ts'

export function archiveEndpoints(store: Store): Endpoint[] {
  const common = {
    method: 'GET',
    action: 'archives:read',
    headers: [],
    codes: ['archive_not_found'],
  } as const
  return [
    {
      ...common,
      path: '/api/v1/archives/deployments/{name}',
      summary: 'List the kept revisions of a deployment, oldest first',
      query: ['limit', 'cursor'],
      success: { status: 200, shape: pageShape(archiveEntryShape) },
      handle: async (request) => {
        const { limit, cursor } = request.query
        const name = param(request, 'name')
        return answerWith(await listArchive(store, request.caller.tenant, name, { limit, cursor }), (page) =>
          answer(200, page),
        )
      },
    },
    {
      ...common,
      path: '/api/v1/archives/deployments/{name}/{revision}',
      summary: 'Read one revision of a deployment as it was stored',
      query: [],
      success: { status: 200, shape: archiveEntryShape },
      handle: async (request) =>
        answerWith(
          await getArchived(store, request.caller.tenant, param(request, 'name'), param(request, 'revision')),
          (entry) => answer(200, entry),
        ),
    },
  ]
}
