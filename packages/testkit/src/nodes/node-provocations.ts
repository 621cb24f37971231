// Requests that raise the error codes of nodes: enrollment, node names and node ids.

import type { Provocation } from '../provocations/provoke.ts'
import { enrollment } from './enroll.ts'

const UNKNOWN = 'node_01JD0000000000000000000000'
const ENROLL = { as: 'anonymous', path: '/api/v1/nodes/enroll' } as const
const FORGED = `hfj_${'0'.repeat(26)}_${'A'.repeat(43)}`

export const NODE_PROVOCATIONS: readonly Provocation[] = [
  {
    code: 'join_token_invalid',
    field: 'joinToken',
    sent: () => ({ ...ENROLL, body: enrollment('forged', FORGED) }),
  },
  {
    code: 'node_owned_by_another_tenant',
    field: 'nodeName',
    sent: (w) => ({ ...ENROLL, body: enrollment('standing', w.foreignJoinToken) }),
  },
  {
    code: 'field_type_invalid',
    field: 'publicKey',
    sent: (w) => ({ ...ENROLL, body: enrollment('standing', w.foreignJoinToken, { publicKey: 'short' }) }),
  },
  {
    code: 'permission_denied',
    field: 'controlPlane',
    sent: () => ({ path: '/api/v1/nodes/join-tokens', body: { nodeName: 'mine', controlPlane: true } }),
  },
  { code: 'node_not_found', field: 'id', sent: () => ({ method: 'GET', path: `/api/v1/nodes/${UNKNOWN}` }) },
  {
    code: 'node_not_found',
    field: 'id',
    sent: (w) => ({ as: 'globex', method: 'DELETE', path: `/api/v1/nodes/${w.nodeId}?force=true` }),
  },
  {
    code: 'node_not_found',
    field: 'nodeName',
    sent: (w) => ({
      as: 'globex',
      method: 'DELETE',
      path: '/api/v1/nodes/standing/claim',
      headers: { 'x-tenant-id': w.platform.globex.id },
    }),
  },
  {
    code: 'node_claim_release_no_tenant',
    field: 'X-Tenant-ID',
    sent: () => ({ method: 'DELETE', path: '/api/v1/nodes/standing/claim' }),
  },
  {
    code: 'job_node_candidates_unresolvable',
    field: 'id',
    alternative: true,
    sent: (w) => ({ method: 'GET', path: `/api/v1/nodes/${w.nodeId}/containers` }),
  },
]
