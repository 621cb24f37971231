// The claims on a machine's name: one tenant owns the name, and a second tenant may claim it only while the first tenant
// releases it (docs/design/agent.md#claims).

import type { Infer, NodeId, TenantId } from '@holdfast/contract'
import { type nodeNameShape, nodeNames } from '../../store/records.ts'
import { globally, type Transaction } from '../../store/transaction.ts'

export type Claim = Infer<typeof nodeNameShape>['claims'][number]

export function readClaims(transaction: Transaction, nodeName: string): readonly Claim[] {
  return transaction.get(globally(nodeNames, nodeName))?.claims ?? []
}

/** Writes the claims on a name. If no claim remains, the record is deleted, so that another tenant can claim the name. */
export function writeClaims(transaction: Transaction, nodeName: string, claims: readonly Claim[]): void {
  const address = globally(nodeNames, nodeName)
  if (claims.length === 0) transaction.delete(address)
  else transaction.put(address, { v: 1, ...transaction.get(address), claims: [...claims] })
}

export const claimOf = (claims: readonly Claim[], tenant: TenantId): Claim | undefined =>
  claims.find((claim) => claim.tenant === tenant)

/** The claims on a name with an active claim of this tenant added; undefined if another tenant owns the name. */
export function claimName(
  claims: readonly Claim[],
  tenant: TenantId,
  nodeId: NodeId,
): readonly Claim[] | undefined {
  const others = withoutClaim(claims, tenant)
  if (others.length > 1 || others.some(({ state }) => state === 'active')) return undefined
  return [...others, { ...claimOf(claims, tenant), tenant, nodeId, state: 'active' }]
}

export const releasing = (claims: readonly Claim[], tenant: TenantId): readonly Claim[] =>
  claims.map((claim) => (claim.tenant === tenant ? { ...claim, state: 'releasing' } : claim))

export const withoutClaim = (claims: readonly Claim[], tenant: TenantId): readonly Claim[] =>
  claims.filter((claim) => claim.tenant !== tenant)
