// Responses to an accepted write of a deployment, shared by all endpoints that write a deployment.

import type { Code } from '@holdfast/contract'
import { CROSS_RULES, FIELD_RULES } from '@holdfast/core'
import { done, type Outcome } from '../../operations/caller.ts'
import type { Written } from '../../operations/deployments/write/written.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import type { ApiResponse } from '../endpoint.ts'

/** Log fields of an accepted deployment write: the server's changes to the request, and warnings. Values are redacted. */
export function announcement({ deployment, alterations, warnings }: Written): object {
  return { deployment: deployment.name, alterations, warnings }
}

export const changed = (written: Written): KeptAnswer => ({
  status: 200,
  body: written,
  etag: String(written.deployment.revision),
})

export function updated(written: Written): Outcome<ApiResponse> {
  return done({ ...changed(written), notes: announcement(written) })
}

/** Codes of the rules that may reject the body of a deployment. */
export const ADMISSION_CODES: readonly Code[] = [
  ...new Set<Code>([
    'manifest_wrong_kind',
    'field_unknown',
    'field_read_only',
    'field_type_invalid',
    ...[...FIELD_RULES, ...CROSS_RULES].map(({ code }) => code),
    'dependency_not_found',
    'dependency_has_no_health_check',
    'image_not_found',
    'node_candidates_unresolvable',
    'node_not_a_placement_candidate',
    'registry_credential_store_unavailable',
    'secret_path_namespace_split',
    'anchored_secret_dropped',
    'anchored_secret_repointed',
    'secrets_store_unavailable',
    'secret_in_use',
    'route_conflict',
    'volume_not_found',
    'volume_class_not_wired',
    'volume_not_ready',
    'volume_access_mode_conflict',
    'volume_primary_mismatch',
    'network_not_found',
  ]),
]
