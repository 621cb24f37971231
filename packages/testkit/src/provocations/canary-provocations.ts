// Requests for canaries that are rejected. tests/real/api/catalogue.test.ts sends them.

import type { Provocation } from './provoke.ts'

const CANARY = '/api/v1/deployments/web/canary'
const body = (over: object = {}) => ({
  change: { environment: { MODE: 'new' } },
  replicas: 1,
  weight: 10,
  ...over,
})
const wrong = (field: string, over: object): Provocation => ({
  code: 'field_type_invalid',
  field,
  sent: () => ({ path: CANARY, body: body(over) }),
})

export const CANARY_PROVOCATIONS: readonly Provocation[] = [
  // No agent runs, so the first rollout of the deployment never ends.
  { code: 'canary_state_invalid', field: 'canary', sent: () => ({ path: CANARY, body: body() }) },
  { code: 'canary_state_invalid', field: 'canary', sent: () => ({ path: `${CANARY}/promote`, body: {} }) },
  {
    code: 'canary_state_invalid',
    field: 'canary',
    sent: () => ({ path: `${CANARY}/promote`, body: { force: true } }),
  },
  { code: 'canary_state_invalid', field: 'canary', sent: () => ({ path: `${CANARY}/abort` }) },
  wrong('replicas', { replicas: 0 }),
  wrong('weight', { weight: 0 }),
  wrong('weight', { weight: 51 }),
  wrong('weight', { weight: 2.5 }),
  wrong('observe', { observe: '0s' }),
  wrong('observe', { observe: '25h' }),
  wrong('observe', { observe: 600 }),
  wrong('change', { change: undefined }),
  wrong('change.image', { change: { image: 7 } }),
  // Too large for a double: the body is read with exact whole numbers.
  wrong('change.image', { change: { image: 2 ** 60 } }),
  {
    code: 'field_unknown',
    field: 'change.imagee',
    sent: () => ({ path: CANARY, body: body({ change: { imagee: 'x' } }) }),
  },
  { code: 'field_unknown', field: 'steps', sent: () => ({ path: CANARY, body: body({ steps: [] }) }) },
  {
    code: 'image_required',
    field: 'change.image',
    sent: () => ({ path: CANARY, body: body({ change: { image: 'web:latest' } }) }),
  },
  {
    code: 'body_too_large',
    field: 'change',
    sent: () => ({
      path: CANARY,
      body: body({ change: { environment: { TEXT: 'x'.repeat(70_000) } } }),
    }),
  },
  {
    code: 'deployment_not_found',
    field: 'name',
    sent: () => ({ path: '/api/v1/deployments/absent/canary', body: body() }),
  },
  {
    code: 'deployment_not_found',
    field: 'name',
    sent: () => ({ as: 'globex', path: `${CANARY}/promote`, body: {} }),
  },
  {
    code: 'deployment_not_found',
    field: 'name',
    sent: () => ({ as: 'globex', path: `${CANARY}/abort` }),
  },
  {
    code: 'revision_conflict',
    field: 'If-Match',
    sent: () => ({ path: CANARY, body: body(), headers: { 'if-match': '"9"' } }),
  },
  {
    code: 'permission_denied',
    field: 'Authorization',
    sent: () => ({ as: 'viewer', path: CANARY, body: body() }),
  },
]
