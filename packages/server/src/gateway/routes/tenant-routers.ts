// The other routers of a tenant as one node receives them: their certificates, and whether plain HTTP is still accepted.

import { defined, type NodeId, type TenantRouter } from '@holdfast/contract'

/** The addresses where a node's router accepts requests that other nodes forward, and the router's certificates. */
export interface Router extends TenantRouter {
  readonly ready: boolean
  /** Whether the replicas on the node count as lost although its agent is connected: its engine has failed. */
  readonly lost: boolean
  /** Until then the other routers accept plain HTTP from this one, although it has a secure address. */
  readonly plainUntilMs?: number
}

/** Stands for the other routers in the list of changes that a node must receive. */
export const ROUTERS = 'routers'
export type RoutersChange = typeof ROUTERS

export interface TenantRoutersView {
  readonly plain: boolean
  readonly others: TenantRouter[]
}

/**
 * Undefined for a node without a secure address: its agent may not know the message. Plain HTTP is accepted while a router
 * of the tenant has no secure address, or has had one only for a short time. Routers are sorted, so that equal sets
 * compare equal.
 */
export function routersSeenBy(
  own: NodeId,
  routers: ReadonlyMap<NodeId, Router>,
  nowMs: number,
): TenantRoutersView | undefined {
  if (routers.get(own)?.secureAddress === undefined) return undefined
  const mayBePlain = ({ secureAddress, plainUntilMs = 0 }: Router): boolean =>
    secureAddress === undefined || plainUntilMs > nowMs
  const others = [...routers].filter(([nodeId]) => nodeId !== own)
  return {
    plain: [...routers.values()].some(mayBePlain),
    others: others
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([, { address, secureAddress, certificates }]) => ({
        address,
        certificates: [...certificates],
        ...defined({ secureAddress }),
      })),
  }
}
