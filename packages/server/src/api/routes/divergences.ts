// The endpoints of a volume's divergences: data that former primaries keep, listed, downloaded and deleted.

import { deletedDivergenceShape, divergencesShape, string } from '@holdfast/contract'
import { deleteDivergence } from '../../operations/volumes/divergences/delete-divergence.ts'
import {
  type DownloadDeps,
  downloadDivergence,
} from '../../operations/volumes/divergences/download-divergence.ts'
import { listKeptDivergences } from '../../operations/volumes/divergences/find-divergence.ts'
import { type ApiRequest, type Endpoint, endpoint, param } from '../endpoint.ts'

const DIVERGENCES = '/api/v1/tenants/{tenant}/volumes/{id}/divergences'
const TAR = 'application/x-tar'
const CODES = [
  'tenant_not_found',
  'volume_not_found',
  'not_found',
  'query_parameter_invalid',
  'job_node_candidates_unresolvable',
] as const

const pathOf = (request: ApiRequest) => ({ id: param(request, 'id'), epoch: param(request, 'epoch') })

export function divergenceEndpoints(deps: DownloadDeps): Endpoint[] {
  return [
    endpoint('GET', DIVERGENCES, {
      operation: 'listDivergences',
      action: 'volumes:read',
      summary:
        'List the data that former primaries of a volume keep, and the nodes that may keep some and could not be observed',
      query: ['limit', 'cursor'],
      shape: divergencesShape,
      codes: ['tenant_not_found', 'volume_not_found'],
      run: (request) =>
        listKeptDivergences(deps.store, request.caller.tenant, param(request, 'id'), request.query),
    }),
    endpoint('GET', `${DIVERGENCES}/{epoch}`, {
      operation: 'downloadDivergence',
      action: 'divergences:read',
      summary: 'Download the data that a former primary keeps as a tar archive; a broken connection cuts it',
      query: ['node'],
      streams: true,
      shape: string(),
      type: TAR,
      codes: [...CODES, 'rate_limited'],
      handle: async (request) => {
        const opened = await downloadDivergence(deps, request.caller, pathOf(request), request.query.node)
        if (!opened.ok) return opened
        const stream = opened.value
        // An archive that the server ends before its end must not look complete.
        const end = () => void stream.destroy(new Error('the server ended the download'))
        return { ok: true, value: { status: 200, type: TAR, stream, end } }
      },
    }),
    endpoint('DELETE', `${DIVERGENCES}/{epoch}`, {
      operation: 'deleteDivergence',
      action: 'volumes:write',
      summary:
        'Delete the data that a former primary keeps; the response follows the confirmation of its node',
      query: ['node'],
      headers: ['If-Match'],
      shape: deletedDivergenceShape,
      codes: [...CODES, 'revision_conflict'],
      run: (request) => {
        const { caller, ifMatch } = request
        return deleteDivergence(deps, caller, pathOf(request), { node: request.query.node, ifMatch })
      },
    }),
  ]
}
