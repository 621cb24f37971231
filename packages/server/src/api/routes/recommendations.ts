// The endpoints of recommendations for volumes, below /api/v1/dvm/recommendations. They exist only if volumes are enabled.

import { applyRecommendationShape, pageShape, recommendationShape, volumeShape } from '@holdfast/contract'
import type { VolumeDeps } from '../../operations/volumes/deps.ts'
import { applyRecommendation, listRecommendations } from '../../operations/volumes/recommendations.ts'
import { type Endpoint, endpoint, param } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import { acceptedVolume } from './volumes.ts'

const ALL = '/api/v1/dvm/recommendations'

export function recommendationEndpoints(deps: VolumeDeps): Endpoint[] {
  return [
    endpoint('GET', ALL, {
      operation: 'listRecommendations',
      action: 'volumes:read',
      summary: 'List what should be changed at the volumes of a tenant, the most urgent first',
      tenantRequired: { missing: 'dvm_recommendation_tenant_required' },
      query: ['recommendationType', 'priority', 'limit', 'cursor'],
      shape: pageShape(recommendationShape),
      codes: [
        'dvm_recommendation_tenant_required',
        'dvm_recommendation_unknown_type',
        'dvm_recommendation_unknown_priority',
      ],
      run: ({ caller, query }) => listRecommendations(deps, caller.tenant, query),
    }),
    applyEndpoint(deps),
  ]
}

function applyEndpoint(deps: VolumeDeps): Endpoint {
  return endpoint('POST', `${ALL}/{id}/apply`, {
    operation: 'applyRecommendation',
    action: 'volumes:write',
    summary: 'Apply a recommendation: change the number of copies or the size of its volume',
    headers: ['Idempotency-Key'],
    body: applyRecommendationShape,
    status: 202,
    shape: volumeShape,
    codes: [
      'field_unknown',
      'field_type_invalid',
      'dvm_recommendation_not_found',
      'dvm_recommendation_unknown_action',
      'dvm_recommendation_bad_parameter',
      'dvm_recommendation_not_applicable',
      'dvm_recommendation_insufficient_nodes',
      'dvm_recommendation_stale_measurement',
      'dvm_recommendation_apply_invalid_spec',
      'dvm_recommendation_volume_missing',
      'idempotency_key_reused',
    ],
    handle: (request) => {
      const id = param(request, 'id')
      return respondOnce(
        deps.answers,
        request,
        `${ALL}/${id}/apply`,
        (once) => applyRecommendation(deps, request.caller, id, request.body, kept(once, acceptedVolume)),
        acceptedVolume,
      )
    },
  })
}
