// The keys of the work queue: a tenant, a kind of work and what the work is about, as `<tenant>/deployment/<name>`.

import type { JobId, NodeId, TenantId } from '@holdfast/contract'

/**
 * The subject of one piece of work. A deployment is identified by its name: the name is not free for another deployment
 * until the deletion has ended. A node has work while it is drained or released.
 */
export type Work =
  | { readonly kind: 'deployment'; readonly tenant: TenantId; readonly name: string }
  | { readonly kind: 'job'; readonly tenant: TenantId; readonly id: JobId }
  | { readonly kind: 'node'; readonly tenant: TenantId; readonly id: NodeId }

export const workKey = (work: Work): string =>
  `${work.tenant}/${work.kind}/${work.kind === 'deployment' ? work.name : work.id}`

/** Reads a key that `workKey` made. */
export function readWorkKey(key: string): Work {
  const [tenant = '', kind, text = ''] = key.split('/')
  if (kind === 'job') return { kind, tenant: tenant as TenantId, id: text as JobId }
  return kind === 'node'
    ? { kind, tenant: tenant as TenantId, id: text as NodeId }
    : { kind: 'deployment', tenant: tenant as TenantId, name: text }
}
