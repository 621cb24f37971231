// Checks the valid fields of a body that has faults against the stored records, so that a client receives all faults in
// one response. Nothing is written, reserved or staged (docs/design/admission.md#order).

import {
  type DeploymentRecord,
  isJsonObject,
  type Json,
  type JsonObject,
  type Rejection,
} from '@holdfast/contract'
import { checkValidPart, type ImageFact, normalise, type QuotaFact, type ValidPart } from '@holdfast/core'
import type { HeldSlots } from '../../../quotas/hold-slots.ts'
import { deployments, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import type { DeploymentDeps } from '../deps.ts'
import { gatherFacts } from './gather-facts.ts'
import { gatherSecrets } from './judge-secrets.ts'

interface PartOfWrite {
  readonly valid: ValidPart
  readonly image: ImageFact | undefined
  /** For an update: the stored deployment, and the record as GET returns it. */
  readonly updated?: { readonly stored: StoredDeployment; readonly current: DeploymentRecord | undefined }
}

export function judgeValidPart(
  deps: DeploymentDeps,
  transaction: Transaction,
  { tenant }: Caller,
  { valid, image, updated }: PartOfWrite,
): Rejection[] {
  const { fields, faulty } = valid
  const { limits } = deps.admission
  const mode = updated === undefined ? 'create' : 'update'
  const whole = updated === undefined ? { ...PLACEHOLDERS, ...fields } : fields
  const { spec, material } = normalise(whole, updated?.current, limits)
  const name = textOf(fields, 'name')
  const stored =
    updated?.stored ?? (name === undefined ? undefined : transaction.get(inTenant(tenant, deployments, name)))
  const facts = gatherFacts(deps, transaction, tenant, {
    ...{ spec, stored, mode, image, archivedDigest: undefined },
    sendsDependsOn: fields.dependsOn !== undefined,
    sentNodeId: textOf(fields, 'nodeId'),
    sendsPlace: updated === undefined || sendsPlace(fields),
    secrets: gatherSecrets(
      deps,
      transaction,
      tenant,
      { spec, material: [], before: updated?.stored },
      { staged: [], slots: NO_SLOTS },
    ),
    quotas: updated === undefined ? deploymentQuota(deps, tenant) : [],
  })
  return checkValidPart(spec, facts, { mode, limits }, material, faulty)
}

/** Values for required fields that have faults. No rejection about them is reported. */
const PLACEHOLDERS = { kind: 'Deployment', name: '', image: '' }

/** No secret values are written, so no quota slots are needed. */
const NO_SLOTS: HeldSlots = { choose: () => ({ kind: 'free', slots: [] }), release: () => undefined }

function deploymentQuota({ slots, quotas }: DeploymentDeps, tenant: Caller['tenant']): QuotaFact[] {
  const kind = 'deployments'
  return [{ kind, used: slots.used(tenant, kind), requested: 1, limit: quotas.limit(tenant, kind) }]
}

/** Whether a body has a field that decides on which node volumes are written. */
export const sendsPlace = (sent: JsonObject): boolean =>
  sent.nodeId !== undefined || sent.volumes !== undefined

/** A field of a body as text; undefined if it is absent or has another type. */
export function textOf(sent: Json, field: 'image' | 'name' | 'nodeId'): string | undefined {
  const value = isJsonObject(sent) ? sent[field] : undefined
  return typeof value === 'string' ? value : undefined
}
