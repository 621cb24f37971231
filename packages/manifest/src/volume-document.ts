// Documents of kind Volume. They have the fields of the API, and two that only manifest files have: `size`, a quantity, and
// `node`, the name of a node.

import {
  field,
  isJsonObject,
  type Json,
  type JsonObject,
  newVolumeShape,
  object,
  optional,
  type Rejection,
  string,
  volumeTexts,
} from '@holdfast/contract'
import { reject } from '@holdfast/core/admission'
import { checkVolume } from '@holdfast/core/volumes/check-volume'

export type DocumentKind = 'Deployment' | 'Volume' | 'Network' | 'Job'

const OTHER_KINDS = ['Volume', 'Network', 'Job'] as const

/** The kind of a document. Every unknown kind is judged as a deployment, by which it is rejected. */
export const kindOf = (value: Json): DocumentKind =>
  OTHER_KINDS.find((kind) => isJsonObject(value) && value.kind === kind) ?? 'Deployment'

const { name, class: storage, sizeBytes, replicas, nodeId, residency } = newVolumeShape.fields

/** The fields of a volume in a manifest file. */
export const volumeDocumentShape = object({
  kind: field({ meaning: 'The kind of the document.', range: 'Volume', example: 'Volume' }, string()),
  name,
  class: storage,
  size: field(
    {
      meaning:
        'The size as a quantity, in manifest files only. It is converted to sizeBytes before the manifest is sent.',
      range: 'a number with a unit: Ki, Mi, Gi, Ti or k, M, G, T, from 16Mi to 16Ti',
      example: '10Gi',
    },
    optional(string()),
  ),
  sizeBytes: field(volumeTexts.sizeBytes, optional(sizeBytes)),
  replicas,
  node: field(
    {
      meaning:
        'The name of the node that becomes the primary when the volume is created, in manifest files only. It is converted to nodeId.',
      absent: volumeTexts.nodeId.absent,
      range: 'the name or the id of a node of the tenant',
      example: 'n1',
    },
    optional(string()),
  ),
  nodeId,
  residency,
})

/** The body of the request that creates the volume of a document, whose `node` was replaced by `nodeId`. */
export function volumeBody(value: Json): JsonObject {
  if (!isJsonObject(value)) return {}
  const { kind: _kind, node: _node, ...body } = value
  return body
}

/** Every fault of a volume that can be found without the platform. */
export function checkVolumeDocument(value: Json, regions: ReadonlySet<string>): Rejection[] {
  const checked = checkVolume(volumeBody(value), { regions })
  return [...nodeFaults(value), ...(checked.ok ? [] : checked.rejections)]
}

function nodeFaults(value: Json): Rejection[] {
  const { node, nodeId: id } = isJsonObject(value) ? value : {}
  if (node === undefined || node === null) return []
  if (typeof node !== 'string' || node === '') return [nodeFault(node, 'the name of a node of this tenant')]
  return id === undefined || id === null ? [] : [nodeFault(node, 'either node or nodeId, not both')]
}

/** A fault of the field `node`, which the platform does not know. */
export const nodeFault = (node: Json, accepted: string): Rejection =>
  reject('volume_spec_invalid', 'node', node, { accepted })
