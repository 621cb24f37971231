// The request bodies that users write besides manifests, with the rules and codes that concern their fields.

import {
  type Code,
  dryRunDocumentsShape,
  execRequestShape,
  jobBodyShape,
  newBackupShape,
  newCanaryShape,
  newJoinTokenShape,
  newNetworkShape,
  newTenantShape,
  newTokenShape,
  newVolumeShape,
  nodePatchShape,
  promoteCanaryShape,
  registryCredentialShape,
  rollbackShape,
  rotateShape,
  type Shape,
  secretWriteShape,
  sentScalingShape,
  tenantPatchShape,
  volumePatchShape,
  volumePromotionShape,
  volumeReplicaShape,
  volumeResizeShape,
} from '@holdfast/contract'
import { JOB_FIELD_RULES } from '../../jobs/job-body.ts'
import { DEFAULT_LIMITS, type Limits } from '../../limits.ts'
import { networkRules } from '../../networks/network-rules.ts'
import { scalingCrossRules, scalingRules } from '../../scaling/scaling-rules.ts'
import { replicasRange, sizeRules, volumeCrossRules, volumeRules } from '../../volumes/volume-rules.ts'
import { CROSS_RULES } from '../rule-list.ts'
import { type DescribedField, describeFields } from './describe-body.ts'
import { type BodyRules, SECRET_WRITE_BODY } from './field-rejections.ts'

interface Body {
  /** The word before the fields in `holdfast explain`, as in `token.role`. */
  readonly name: string
  readonly about: string
  readonly request: string
  readonly shape: Shape<unknown>
  readonly rules: BodyRules
}

export interface DescribedBody extends Omit<Body, 'shape' | 'rules'> {
  readonly fields: readonly DescribedField[]
}

const checkedWith = (...facts: readonly Code[]): BodyRules => ({ rules: [], cross: [], facts })

const BODIES: readonly Body[] = [
  {
    name: 'secret',
    about: 'A write of a secret, as holdfast secret set sends it.',
    request: 'PUT or PATCH /api/v1/secrets/{namespace}/{resource}',
    shape: secretWriteShape,
    rules: SECRET_WRITE_BODY,
  },
  {
    name: 'rotation',
    about: 'A step of a rotation, as holdfast secret rotate sends it.',
    request: 'POST /api/v1/deployments/{name}/secrets/rotate',
    shape: rotateShape,
    rules: { ...SECRET_WRITE_BODY, facts: ['rotation_transition_invalid', 'secret_in_use'] },
  },
  {
    name: 'rollback',
    about: 'A rollback, as holdfast rollout undo sends it.',
    request: 'POST /api/v1/deployments/{name}/rollback',
    shape: rollbackShape,
    rules: checkedWith('archive_not_found'),
  },
  {
    name: 'scaling',
    about: 'The scaling policy of a deployment, as holdfast scaling set sends it.',
    request: 'PUT /api/v1/deployments/{name}/scaling',
    shape: sentScalingShape,
    rules: { rules: scalingRules, cross: scalingCrossRules, facts: [] },
  },
  {
    name: 'canary',
    about: 'A new canary, as holdfast rollout canary start sends it.',
    request: 'POST /api/v1/deployments/{name}/canary',
    shape: newCanaryShape,
    rules: checkedWith('canary_state_invalid'),
  },
  {
    name: 'promotion',
    about: 'The promotion of a canary, as holdfast rollout canary promote sends it.',
    request: 'POST /api/v1/deployments/{name}/canary/promote',
    shape: promoteCanaryShape,
    rules: checkedWith('canary_state_invalid'),
  },
  {
    name: 'backup',
    about: 'A new backup of a deployment, as holdfast backup create sends it.',
    request: 'POST /api/v1/backups',
    shape: newBackupShape,
    rules: checkedWith('deployment_not_found'),
  },
  {
    name: 'exec',
    about: 'A command to run in a container, as holdfast exec sends it.',
    request: 'POST /api/v1/deployments/{name}/exec',
    shape: execRequestShape,
    rules: checkedWith(),
  },
  {
    name: 'dry-run',
    about: 'Manifests that are judged and not stored.',
    request: 'POST /api/v1/dry-run',
    shape: dryRunDocumentsShape,
    rules: checkedWith(),
  },
  {
    name: 'join-token',
    about: 'A token with which one machine enrolls, as holdfast node join-token sends it.',
    request: 'POST /api/v1/nodes/join-tokens',
    shape: newJoinTokenShape,
    rules: checkedWith(),
  },
  {
    name: 'node',
    about: 'A change of a node.',
    request: 'PATCH /api/v1/nodes/{id}',
    shape: nodePatchShape,
    rules: checkedWith(),
  },
  {
    name: 'tenant',
    about: 'A new tenant, as holdfast tenant create sends it.',
    request: 'POST /api/v1/tenants',
    shape: newTenantShape,
    rules: checkedWith('name_required'),
  },
  {
    name: 'tenant-change',
    about: 'A change of a tenant and its quotas, as holdfast tenant quota sends it.',
    request: 'PATCH /api/v1/tenants/{tenant}',
    shape: tenantPatchShape,
    rules: checkedWith('name_required'),
  },
  {
    name: 'token',
    about: 'A new API token, as holdfast token create sends it.',
    request: 'POST /api/v1/tenants/{tenant}/tokens',
    shape: newTokenShape,
    rules: checkedWith('name_required'),
  },
  {
    name: 'job',
    about: 'A new job, as holdfast run sends it.',
    request: 'POST /api/v1/jobs',
    shape: jobBodyShape,
    rules: {
      rules: JOB_FIELD_RULES,
      cross: CROSS_RULES,
      facts: [
        'job_node_candidates_unresolvable',
        'job_node_not_found',
        'image_not_found',
        'network_not_found',
      ],
    },
  },
  {
    name: 'network',
    about: 'A new network, as holdfast network create sends it.',
    request: 'POST /api/v1/networks',
    shape: newNetworkShape,
    rules: {
      rules: networkRules,
      cross: [],
      facts: [
        'network_exists',
        'network_node_candidates_unresolvable',
        'network_node_not_a_candidate',
        'network_node_required',
      ],
    },
  },
  {
    name: 'volume',
    about: 'A new volume. The platform must have volumes enabled.',
    request: 'POST /api/v1/tenants/{tenant}/volumes',
    shape: newVolumeShape,
    rules: { rules: volumeRules, cross: volumeCrossRules, facts: [] },
  },
  {
    name: 'volume-change',
    about: 'A change of the number of copies of a volume.',
    request: 'PATCH /api/v1/tenants/{tenant}/volumes/{id}',
    shape: volumePatchShape,
    rules: { rules: [replicasRange], cross: [], facts: [] },
  },
  {
    name: 'volume-resize',
    about: 'A change of the size of a volume.',
    request: 'POST /api/v1/tenants/{tenant}/volumes/{id}/resize',
    shape: volumeResizeShape,
    rules: { rules: sizeRules, cross: [], facts: [] },
  },
  {
    name: 'volume-replica',
    about: 'A further copy of a volume on a chosen node.',
    request: 'POST /api/v1/tenants/{tenant}/volumes/{id}/replicas',
    shape: volumeReplicaShape,
    rules: checkedWith('replica_node_invalid'),
  },
  {
    name: 'volume-promotion',
    about:
      'The promotion of a copy of a volume whose primary is silent, as holdfast volume promote sends it.',
    request: 'POST /api/v1/tenants/{tenant}/volumes/{id}/promote',
    shape: volumePromotionShape,
    rules: checkedWith('replica_node_invalid', 'volume_primary_mismatch'),
  },
  {
    name: 'registry-credential',
    about: 'The credential for a registry, as holdfast registry login sends it.',
    request: 'PUT /api/v1/registries/{host}/credential',
    shape: registryCredentialShape,
    rules: checkedWith(),
  },
]

/** Describes the request bodies other than manifests, with the given limits. */
export function describeBodies(limits: Limits = DEFAULT_LIMITS): DescribedBody[] {
  return BODIES.map(({ shape, rules, ...body }) => ({
    ...body,
    fields: describeFields(shape, rules, limits),
  }))
}
