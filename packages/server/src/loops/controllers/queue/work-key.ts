// The keys of the work queue: a tenant, a kind of work and what the work is about, as `<tenant>/deployment/<name>`.

import type { NodeId, TenantId } from '@holdfast/contract'

/**
 * What is reconciled: a deployment by its name, which belongs to one deployment at a time, even during its deletion; or a
 * node that is being drained or released.
 */
export type Work =
  | { readonly kind: 'deployment'; readonly tenant: TenantId; readonly name: string }
  | { readonly kind: 'node'; readonly tenant: TenantId; readonly id: NodeId }

export const workKey = (work: Work): string =>
  `${work.tenant}/${work.kind}/${work.kind === 'node' ? work.id : work.name}`

/** Reads a key that `workKey` made. */
export function readWorkKey(key: string): Work {
  const [tenant = '', kind, text = ''] = key.split('/')
  return kind === 'node'
    ? { kind, tenant: tenant as TenantId, id: text as NodeId }
    : { kind: 'deployment', tenant: tenant as TenantId, name: text }
}
