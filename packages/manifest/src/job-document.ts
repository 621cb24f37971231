// Documents of kind Job. They have the fields of the API, and those that only manifest files have: `node`, the name of a
// node, names of volumes, and quantities.

import {
  field,
  isJsonObject,
  type Json,
  type JsonObject,
  jobBodyShape,
  jobTexts,
  object,
  optional,
  type Rejection,
  string,
} from '@holdfast/contract'
import { type AdmissionContext, reject } from '@holdfast/core/admission'
import { judgeBody } from '@holdfast/core/admission/admit-body'
import { JOB_BODY } from '@holdfast/core/jobs/job-body'

/** The fields of a job in a manifest file. */
export const jobDocumentShape = object({
  ...jobBodyShape.fields,
  node: field(
    {
      meaning: 'The name of the node to run on, in manifest files only. It is converted to nodeId.',
      absent: jobTexts.nodeId.absent,
      range: 'the name or the id of a node of the tenant',
      example: 'n1',
    },
    optional(string()),
  ),
})

/** The body of the request that creates the job of a document, whose `node` was replaced by `nodeId`. */
export function jobBody(value: Json): JsonObject {
  if (!isJsonObject(value)) return {}
  const { node: _node, ...body } = value
  return body
}

/** Every fault of a job that can be found without the platform. */
export const checkJobDocument = (value: Json, context: AdmissionContext): Rejection[] => [
  ...nodeFaults(value),
  ...judgeBody(jobBody(value), context, JOB_BODY).rejections,
]

function nodeFaults(value: Json): Rejection[] {
  const { node, nodeId } = isJsonObject(value) ? value : {}
  if (node === undefined || node === null) return []
  if (typeof node !== 'string' || node === '')
    return [jobNodeFault(node, 'the name of a node of this tenant')]
  return nodeId === undefined || nodeId === null
    ? []
    : [jobNodeFault(node, 'either node or nodeId, not both')]
}

/** A fault of the field `node`, which the platform does not know. */
export const jobNodeFault = (node: Json, expected: string): Rejection => ({
  ...reject('job_node_not_found', 'node', node),
  expected,
})
