// The labels that identify Holdfast's containers. A container is identified by its labels alone, never by its name.

import {
  type AssignmentId,
  asOwner,
  type DesiredItem,
  defined,
  isVolumeId,
  type Owner,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import { writtenVolumes } from './container-mounts.ts'

const PREFIX = 'holdfast.io/'
export const ASSIGNMENT_LABEL = `${PREFIX}assignment`
const OWNER_LABEL = `${PREFIX}owner`
const NAME_LABEL = `${PREFIX}name`
/** In place of the owner label, containers of older agents have this label with the uid of their deployment. */
const FORMER_OWNER_LABEL = `${PREFIX}deployment`
const GENERATION_LABEL = `${PREFIX}generation`
const TEMPLATE_LABEL = `${PREFIX}template`
export const TENANT_LABEL = `${PREFIX}tenant`
/** The label of a network on the engine: the id of the network. */
export const NETWORK_LABEL = `${PREFIX}network`
/** A writer has one label for each volume that it writes: this prefix and the id of the volume. */
const WRITES_LABEL = `${PREFIX}writes.`
const WRITES = 'true'
/** The label of the container and the Docker volume by which an image's content is copied: the id of the volume. */
export const SEED_LABEL = `${PREFIX}seed`
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
    ...Object.fromEntries(writtenVolumes(item.template).map(writerLabel)),
  }
}

/** The label of every container that writes the volume, with its value. */
export const writerLabel = (volume: VolumeId): [label: string, value: string] => [
  `${WRITES_LABEL}${volume}`,
  WRITES,
]

/** The volumes that a container writes according to its labels. */
export const labelledVolumes = (labels: Labels): VolumeId[] =>
  Object.keys(labels)
    .filter((label) => label.startsWith(WRITES_LABEL))
    .map((label) => label.slice(WRITES_LABEL.length))
    .filter(isVolumeId)

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
