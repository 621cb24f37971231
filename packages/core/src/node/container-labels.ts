// The labels that identify Holdfast's containers. A container is identified by its labels alone, never by its name.

import {
  type AssignmentId,
  asOwner,
  type DesiredItem,
  defined,
  type Owner,
  type TenantId,
} from '@holdfast/contract'

const PREFIX = 'holdfast.io/'
export const ASSIGNMENT_LABEL = `${PREFIX}assignment`
const OWNER_LABEL = `${PREFIX}owner`
const NAME_LABEL = `${PREFIX}name`
/** In place of the owner label, containers of older agents have this label with the uid of their deployment. */
const FORMER_OWNER_LABEL = `${PREFIX}deployment`
const GENERATION_LABEL = `${PREFIX}generation`
const TEMPLATE_LABEL = `${PREFIX}template`
export const TENANT_LABEL = `${PREFIX}tenant`
/** The label with the broker's proof of the secret versions that the container was created with. */
export const PROOF_LABEL = `${PREFIX}proof`

type Labels = { readonly [key: string]: string }

/** The labels of a new container. Holdfast's labels override those of the template, so no user can forge them. */
export function containerLabels(item: DesiredItem, tenant: TenantId, proof?: string): Labels {
  return {
    ...item.template.labels,
    [ASSIGNMENT_LABEL]: item.assignmentId,
    [OWNER_LABEL]: item.owner,
    [NAME_LABEL]: item.template.name,
    [GENERATION_LABEL]: String(item.generation),
    [TEMPLATE_LABEL]: item.templateHash,
    [TENANT_LABEL]: tenant,
    ...defined({ [PROOF_LABEL]: proof }),
  }
}

export interface OwnLabels {
  readonly assignmentId: AssignmentId
  readonly generation: number
  /** Undefined if the container has neither form of the owner label. */
  readonly owner: Owner | undefined
}

const ASSIGNMENT = /^rep_[0-9A-Za-z]{1,64}$/
const isAssignmentId = (text: string): text is AssignmentId => ASSIGNMENT.test(text)

/**
 * Reads Holdfast's labels of a container. Undefined for a container that belongs to no assignment of this tenant; the
 * agent never changes such a container.
 */
export function readOwnLabels(labels: Labels, tenant: TenantId): OwnLabels | undefined {
  const assignmentId = labels[ASSIGNMENT_LABEL] ?? ''
  const generation = Number(labels[GENERATION_LABEL])
  if (labels[TENANT_LABEL] !== tenant || !isAssignmentId(assignmentId)) return undefined
  return Number.isSafeInteger(generation)
    ? { assignmentId, generation, owner: readLabelledOwner(labels) }
    : undefined
}

function readLabelledOwner(labels: Labels): Owner | undefined {
  const former = labels[FORMER_OWNER_LABEL]
  const owner = labels[OWNER_LABEL] ?? (former && `deployment/${former}`)
  return owner ? asOwner(owner) : undefined
}
