// Decides what applying a volume document does to the stored volume: nothing, a new volume, another size or number of
// copies, or a fault, because the other fields of a volume never change.

import { isJsonObject, type Json, type JsonObject, type Rejection, type Volume } from '@holdfast/contract'
import { reject } from '@holdfast/core/admission'
import { differencesOf, type FieldDifference } from '../print/difference.ts'

export interface VolumePlan {
  readonly action: 'create' | 'update' | 'none'
  /** The new size, if it changes. */
  readonly sizeBytes?: number
  /** The new number of copies besides the primary, if it changes. */
  readonly replicas?: number
  readonly changes: readonly FieldDifference[]
  readonly faults: readonly Rejection[]
}

/** Plans the volume of a request body. Fields that the body does not mention keep their stored values. */
export function planVolume(body: JsonObject, before: Volume | undefined): VolumePlan {
  if (before === undefined) return { action: 'create', changes: [], faults: [] }
  const faults = [...classFaults(body, before), ...nodeFaults(body, before), ...residencyFaults(body, before)]
  const { sizeBytes, replicas } = body
  const next = {
    ...(typeof sizeBytes === 'number' && sizeBytes !== before.sizeBytes ? { sizeBytes } : {}),
    ...(typeof replicas === 'number' && replicas !== before.replicas ? { replicas } : {}),
  }
  const changes = differencesOf(
    { sizeBytes: before.sizeBytes, replicas: before.replicas },
    {
      sizeBytes: before.sizeBytes,
      replicas: before.replicas,
      ...next,
    },
  )
  return { action: changes.length === 0 ? 'none' : 'update', ...next, changes, faults }
}

function fixed(field: string, sent: Json, accepted: string, why: string): Rejection {
  return { ...reject('volume_spec_invalid', field, sent, { accepted }), why }
}

function classFaults({ class: sent }: JsonObject, { class: stored, name }: Volume): Rejection[] {
  if (sent === undefined || sent === null || sent === stored) return []
  return [
    fixed(
      'class',
      sent,
      `${stored}, the class of the stored volume`,
      `The class of a volume cannot be changed. Create a volume with another name and copy the data, or delete ${name} first.`,
    ),
  ]
}

/** The node of a document is right if it was demanded at the creation, or if the primary is there. */
function nodeFaults({ nodeId: sent }: JsonObject, { nodeId: stored, primary, name }: Volume): Rejection[] {
  if (sent === undefined || sent === null || sent === stored || sent === primary?.nodeId) return []
  const where =
    primary === null ? 'no node: the volume has no primary yet' : `${primary.nodeName}, or no node`
  return [
    fixed(
      'nodeId',
      sent,
      where,
      `The node of a volume is chosen when it is created. Leave it out; holdfast node drain moves a primary, and holdfast volume replica add ${name} NODE adds a copy.`,
    ),
  ]
}

function residencyFaults({ residency: sent }: JsonObject, { residency: stored, name }: Volume): Rejection[] {
  if (sent === undefined || sortedText(sent) === sortedText(stored ?? null)) return []
  return [
    fixed(
      'residency',
      sent,
      stored === undefined ? 'no residency, as the stored volume' : `${sortedText(stored)}, as stored`,
      `The residency of a volume cannot be changed. Create a volume with another name and copy the data, or delete ${name} first.`,
    ),
  ]
}

/** A value as text that does not depend on the order of members and blocked countries. */
function sortedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).sort().join(', ')}]`
  if (!isJsonObject(value)) return String(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const texts = members.map(([member, inner]) => `${member}: ${sortedText(inner ?? null)}`)
  return texts.sort().join(', ')
}
