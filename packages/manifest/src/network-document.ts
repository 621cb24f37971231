// Documents of kind Network. They have the fields of the API, and one that only manifest files have: `node`, the name of a
// node.

import {
  asTenantId,
  field,
  isJsonObject,
  type Json,
  type JsonObject,
  networkTexts,
  newNetworkShape,
  object,
  optional,
  type Rejection,
  string,
} from '@holdfast/contract'
import { admissionContext, reject } from '@holdfast/core/admission'
import { checkNetwork } from '@holdfast/core/networks/check-network'

const { name, driver, labels, internal, nodeId } = newNetworkShape.fields

/** The fields of a network in a manifest file. */
export const networkDocumentShape = object({
  kind: field({ meaning: 'The kind of the document.', range: 'Network', example: 'Network' }, string()),
  name,
  driver,
  labels,
  internal,
  node: field(
    {
      meaning: 'The name of the node of the network, in manifest files only. It is converted to nodeId.',
      absent: networkTexts.nodeId.absent,
      range: 'the name or the id of a node of the tenant',
      example: 'n1',
    },
    optional(string()),
  ),
  nodeId,
})

/** The body of the request that creates the network of a document, whose `node` was replaced by `nodeId`. */
export function networkBody(value: Json): JsonObject {
  if (!isJsonObject(value)) return {}
  const { kind: _kind, node: _node, ...body } = value
  return body
}

/** Every fault of a network that can be found without the platform. */
export function checkNetworkDocument(value: Json): Rejection[] {
  const checked = checkNetwork(networkBody(value), ANY_TENANT, admissionContext())
  return [...nodeFaults(value), ...(checked.ok ? [] : checked.rejections)]
}

/** Only the platform knows the tenant, whose id reserves one name. */
const ANY_TENANT = asTenantId('')

function nodeFaults(value: Json): Rejection[] {
  const { node, nodeId: id } = isJsonObject(value) ? value : {}
  if (node === undefined || node === null) return []
  if (typeof node !== 'string' || node === '')
    return [networkNodeFault(node, 'the name of a node of this tenant')]
  return id === undefined || id === null ? [] : [networkNodeFault(node, 'either node or nodeId, not both')]
}

/** A fault of the field `node`, which the platform does not know. */
export const networkNodeFault = (node: Json, expected: string): Rejection => ({
  ...reject('network_node_not_a_candidate', 'node', node),
  expected,
})

/** Leaves out the names of some networks of a deployment, so that the platform can judge everything else. */
export function withoutNetworks(value: Json, isLeftOut: (network: string) => boolean): Json {
  if (!isJsonObject(value) || !Array.isArray(value.networks)) return value
  const networks = value.networks.filter((each) => typeof each !== 'string' || !isLeftOut(each))
  return { ...value, networks }
}
