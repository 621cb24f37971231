// The labels by which a container is known as ours: identity is by label alone, never by name. DECISIONS 4, SAFETY 2 row 15.

import type { AssignmentId, DesiredItem, TenantId } from '@holdfast/contract'

const PREFIX = 'holdfast.io/'
export const ASSIGNMENT_LABEL = `${PREFIX}assignment`
const DEPLOYMENT_LABEL = `${PREFIX}deployment`
const DEPLOYMENT_NAME_LABEL = `${PREFIX}deployment-name`
const GENERATION_LABEL = `${PREFIX}generation`
const TEMPLATE_LABEL = `${PREFIX}template`
export const TENANT_LABEL = `${PREFIX}tenant`
/** What came with its environment: says which versions of its secrets it was made with. */
export const PROOF_LABEL = `${PREFIX}proof`

type Labels = { readonly [key: string]: string }

/** Ours go last: no label of a user becomes one of ours. */
export function containerLabels(item: DesiredItem, tenant: TenantId, proof?: string): Labels {
  return {
    ...item.template.labels,
    [ASSIGNMENT_LABEL]: item.assignmentId,
    [DEPLOYMENT_LABEL]: item.deployment,
    [DEPLOYMENT_NAME_LABEL]: item.template.name,
    [GENERATION_LABEL]: String(item.generation),
    [TEMPLATE_LABEL]: item.templateHash,
    [TENANT_LABEL]: tenant,
    ...(proof === undefined ? {} : { [PROOF_LABEL]: proof }),
  }
}

export interface OwnLabels {
  readonly assignmentId: AssignmentId
  readonly generation: number
}

const ASSIGNMENT = /^rep_[0-9A-Za-z]{1,64}$/
const isAssignmentId = (text: string): text is AssignmentId => ASSIGNMENT.test(text)

/** Undefined for a container that is not of this tenant's assignments: it is never touched. */
export function readOwnLabels(labels: Labels, tenant: TenantId): OwnLabels | undefined {
  const assignmentId = labels[ASSIGNMENT_LABEL] ?? ''
  const generation = Number(labels[GENERATION_LABEL])
  if (labels[TENANT_LABEL] !== tenant || !isAssignmentId(assignmentId)) return undefined
  return Number.isSafeInteger(generation) ? { assignmentId, generation } : undefined
}
