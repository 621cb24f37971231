// The claims on a machine's name: one tenant owns it, and a second one may claim it only while the first releases it
// (docs/design/agent.md#claims).

import type { Infer, NodeId, TenantId } from '@holdfast/contract'
import { type nodeNameShape, nodeNames } from '../../store/records.ts'
import { globally, type Transaction } from '../../store/transaction.ts'

export type Claim = Infer<typeof nodeNameShape>['claims'][number]

export function readClaims(transaction: Transaction, nodeName: string): readonly Claim[] {
  return transaction.get(globally(nodeNames, nodeName))?.claims ?? []
}

/** A name without claims has no record, so that its next owner finds it free. */
export function writeClaims(transaction: Transaction, nodeName: string, claims: readonly Claim[]): void {
  const address = globally(nodeNames, nodeName)
  if (claims.length === 0) transaction.delete(address)
  else transaction.put(address, { v: 1, claims: [...claims] })
}

export const claimOf = (claims: readonly Claim[], tenant: TenantId): Claim | undefined =>
  claims.find((claim) => claim.tenant === tenant)

/** The claims with this tenant's active one added; undefined where another tenant owns the name. */
export function claimName(
  claims: readonly Claim[],
  tenant: TenantId,
  nodeId: NodeId,
): readonly Claim[] | undefined {
  const others = withoutClaim(claims, tenant)
  if (others.length > 1 || others.some(({ state }) => state === 'active')) return undefined
  return [...others, { tenant, nodeId, state: 'active' }]
}

export const releasing = (claims: readonly Claim[], tenant: TenantId): readonly Claim[] =>
  claims.map((claim) => (claim.tenant === tenant ? { ...claim, state: 'releasing' } : claim))

export const withoutClaim = (claims: readonly Claim[], tenant: TenantId): readonly Claim[] =>
  claims.filter((claim) => claim.tenant !== tenant)
