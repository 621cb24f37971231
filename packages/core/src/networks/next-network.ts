// Decides the next state of a network from the report of its agent and the state of its node.
// See docs/design/networks.md#phases

import type { NETWORK_PHASES, ObservedNetwork } from '@holdfast/contract'

export interface NetworkState {
  readonly phase: (typeof NETWORK_PHASES)[number]
  readonly reason: string | null
  /** Whether the agent must have the network or remove it. */
  readonly desired: 'present' | 'removed'
}

export interface NetworkSituation {
  /** Undefined if the node was removed from the tenant. */
  readonly node:
    | {
        /** Whether the claim of the node is being released. */
        readonly isLeaving: boolean
        /** Whether the agent of the node knows networks. */
        readonly isAble: boolean
      }
    | undefined
  /** The last report of the agent; undefined if there is none. */
  readonly report: Pick<ObservedNetwork, 'state' | 'reason'> | undefined
}

export type NextNetwork =
  | { readonly kind: 'keep'; readonly state: NetworkState; readonly occurrence?: 'ready' | 'failed' }
  /** `confirmed`: the agent has removed the network, or never knew it. */
  | { readonly kind: 'delete'; readonly confirmed: boolean }

export function nextNetwork(before: NetworkState, situation: NetworkSituation): NextNetwork {
  if (before.phase === 'Deleting') {
    if (situation.node === undefined) return { kind: 'delete', confirmed: false }
    return mayBeOnNode(situation) ? { kind: 'keep', state: before } : { kind: 'delete', confirmed: true }
  }
  const state = stateOf(situation)
  const isNews = state.phase !== before.phase || state.reason !== before.reason
  if (!isNews) return { kind: 'keep', state }
  if (state.phase === 'Ready') return { kind: 'keep', state, occurrence: 'ready' }
  return state.phase === 'Failed' ? { kind: 'keep', state, occurrence: 'failed' } : { kind: 'keep', state }
}

function stateOf({ node, report }: NetworkSituation): NetworkState {
  if (node === undefined) return { phase: 'Failed', reason: 'node_removed', desired: 'removed' }
  if (node.isLeaving) return { phase: 'Failed', reason: 'node_leaving', desired: 'removed' }
  const desired = 'present'
  if (report?.state === 'present') return { phase: 'Ready', reason: null, desired }
  if (report?.state === 'failed') return { phase: 'Failed', reason: report.reason, desired }
  return { phase: 'Pending', reason: node.isAble ? null : 'agent_version', desired }
}

/**
 * Whether the node may have the network. Without a report only an agent that does not know networks proves that it has
 * none.
 */
export const mayBeOnNode = ({ node, report }: NetworkSituation): boolean =>
  node !== undefined && (report === undefined ? node.isAble : report.state !== 'removed')
