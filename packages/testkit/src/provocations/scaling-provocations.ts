// Requests for scaling policies that are rejected. tests/real/api/catalogue.test.ts sends them. The deployment `web` exists
// and requests no resources.

import type { Provocation } from './provoke.ts'

const POLICY = '/api/v1/deployments/web/scaling'
const valid = { min: 1, max: 5, metric: 'cpu', targetPercent: 60 }
const put = (body: object) => ({ method: 'PUT', path: POLICY, body })

export const SCALING_PROVOCATIONS: readonly Provocation[] = [
  { code: 'scaling_policy_invalid', field: 'min', sent: () => put({ ...valid, min: 0 }) },
  { code: 'scaling_policy_invalid', field: 'min', sent: () => put({ ...valid, min: 6 }) },
  { code: 'scaling_policy_invalid', field: 'max', sent: () => put({ ...valid, max: 101 }) },
  { code: 'scaling_policy_invalid', field: 'metric', sent: () => put(valid) },
  { code: 'scaling_policy_invalid', field: 'targetPercent', sent: () => put({ ...valid, targetPercent: 9 }) },
  {
    code: 'scaling_policy_invalid',
    field: 'scaleDownDelay',
    sent: () => put({ ...valid, scaleDownDelay: '61m' }),
  },
  { code: 'field_unknown', field: 'target', sent: () => put({ ...valid, target: 60 }) },
  { code: 'scaling_policy_not_found', field: 'name', sent: () => ({ method: 'GET', path: POLICY }) },
  { code: 'scaling_policy_not_found', field: 'name', sent: () => ({ method: 'DELETE', path: POLICY }) },
  {
    code: 'deployment_not_found',
    field: 'name',
    sent: () => ({ as: 'globex', method: 'GET', path: POLICY }),
  },
  {
    code: 'permission_denied',
    field: 'Authorization',
    sent: () => ({ ...put(valid), as: 'viewer' }),
  },
]
