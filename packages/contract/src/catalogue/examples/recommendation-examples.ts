// Examples of the codes that recommendations return. They need a platform that has volumes enabled and three nodes.

import { type CodeExample, EXAMPLE, type ExampleRequest } from './example.ts'

const ALL = '/api/v1/dvm/recommendations'
const headers = { 'X-Tenant-ID': EXAMPLE.tenant }
const apply = (id: string, parameters?: ExampleRequest['body']): ExampleRequest => ({
  method: 'POST',
  path: `${ALL}/${id}/apply`,
  body: parameters === undefined ? {} : { parameters },
})
const copies = (parameters: ExampleRequest['body']) => apply(EXAMPLE.copiesRecommendation, parameters)
const size = (bytes: number) =>
  apply(EXAMPLE.sizeRecommendation, { action: 'resize', target_size_bytes: bytes })
const NO_REPLICA = `${EXAMPLE.copiesRecommendation} recommends a replica for a volume that has none.`
const FULL = `${EXAMPLE.sizeRecommendation} recommends a larger size for a volume that is 90 % full.`
const MIB = 1024 ** 2
const TIB = 1024 ** 4

export const recommendationExamples = {
  dvm_recommendation_apply_invalid_spec: {
    field: 'spec',
    given: FULL,
    fails: size(32 * TIB),
    passes: size(100 * MIB),
    params: {
      reason:
        'volume_spec_invalid at sizeBytes, which accepts a whole number of bytes from 16777216 (16 MiB) to 17592186044416 (16 TiB)',
    },
  },
  dvm_recommendation_bad_parameter: {
    field: 'parameters.target_replicas',
    given: NO_REPLICA,
    fails: copies({ action: 'set_replicas', target_replicas: 'two' }),
    passes: copies({ action: 'set_replicas', target_replicas: 2 }),
    params: { accepted: 'a whole number above 0' },
  },
  dvm_recommendation_insufficient_nodes: {
    field: 'parameters.target_replicas',
    given: `${NO_REPLICA} The tenant has 3 nodes.`,
    fails: copies({ action: 'set_replicas', target_replicas: 3 }),
    passes: copies({ action: 'set_replicas', target_replicas: 2 }),
    params: { max: 2, needed: 4, enrolled: 3 },
  },
  dvm_recommendation_not_applicable: {
    field: 'id',
    given: `The node of the volume that ${EXAMPLE.oldRecommendation} concerns no longer measures it.`,
    fails: apply(EXAMPLE.oldRecommendation),
    params: {
      reason:
        '96 % of the volume is in use. The node of the primary has not measured the volume since 2026-01-01T00:00:00.000Z',
    },
  },
  dvm_recommendation_not_found: {
    field: 'id',
    fails: apply('rec_00000000000000000000000000'),
    passes: apply(EXAMPLE.copiesRecommendation),
    params: {},
  },
  dvm_recommendation_stale_measurement: {
    field: 'parameters.target_size_bytes',
    given: FULL,
    fails: size(50 * MIB),
    passes: size(100 * MIB),
    params: { used: 60_397_978 },
  },
  dvm_recommendation_tenant_required: {
    field: 'X-Tenant-ID',
    fails: { method: 'GET', path: ALL },
    passes: { method: 'GET', path: ALL, headers },
    params: {},
  },
  dvm_recommendation_unknown_action: {
    field: 'parameters.action',
    given: NO_REPLICA,
    fails: copies({ action: 'add_replica', target_replicas: 1 }),
    passes: copies({ action: 'set_replicas', target_replicas: 1 }),
    params: {},
  },
  dvm_recommendation_unknown_priority: {
    field: 'priority',
    fails: { method: 'GET', path: `${ALL}?priority=urgent`, headers },
    passes: { method: 'GET', path: `${ALL}?priority=critical`, headers },
    params: {},
  },
  dvm_recommendation_unknown_type: {
    field: 'type',
    fails: { method: 'GET', path: `${ALL}?type=capacity`, headers },
    passes: { method: 'GET', path: `${ALL}?type=capacity_low`, headers },
    params: {},
  },
  dvm_recommendation_volume_missing: {
    field: 'volume_id',
    given: `The volume of ${EXAMPLE.lateRecommendation} is deleted while the request runs.`,
    fails: apply(EXAMPLE.lateRecommendation),
    params: {},
  },
} as const satisfies { readonly [code: string]: CodeExample }
