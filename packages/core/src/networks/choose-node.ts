// Chooses the node of a new network: the one that the request names, or the only one that accepts work.

import type { Alteration, NodeId, Rejection } from '@holdfast/contract'
import { reject } from '../reject.ts'

/** A node of the tenant, as far as it may get a network. */
export interface NetworkCandidate {
  readonly id: NodeId
  readonly schedulable: boolean
  readonly controlPlane: boolean
}

export type ChosenNode =
  | { readonly ok: true; readonly nodeId: NodeId; readonly alterations: readonly Alteration[] }
  | { readonly ok: false; readonly rejection: Rejection }

/** The most node ids that a rejection lists. */
const MOST_LISTED = 10

export function chooseNetworkNode(named: string | undefined, nodes: readonly NetworkCandidate[]): ChosenNode {
  const available = nodes.filter(({ schedulable, controlPlane }) => schedulable && !controlPlane)
  const [first] = available
  if (first === undefined) return refuse(reject('network_node_candidates_unresolvable', 'nodeId', named))
  if (named !== undefined) {
    const found = available.find(({ id }) => id === named)
    return found === undefined
      ? refuse(reject('network_node_not_a_candidate', 'nodeId', named))
      : { ok: true, nodeId: found.id, alterations: [] }
  }
  if (available.length > 1) return refuse(required(available))
  return { ok: true, nodeId: first.id, alterations: [chosen(first.id)] }
}

const refuse = (rejection: Rejection): ChosenNode => ({ ok: false, rejection })

function required(available: readonly NetworkCandidate[]): Rejection {
  const ids = available.map(({ id }) => id).toSorted()
  const more = ids.length > MOST_LISTED ? ' and others' : ''
  const nodes = `${ids.slice(0, MOST_LISTED).join(', ')}${more}`
  return reject('network_node_required', 'nodeId', undefined, { nodes, count: available.length })
}

const chosen = (to: NodeId): Alteration => ({
  code: 'network_node_chosen',
  field: 'nodeId',
  from: null,
  to,
  why: 'It is the only node of the tenant that accepts work.',
})
