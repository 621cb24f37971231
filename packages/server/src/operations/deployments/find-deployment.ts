// Which deployment does a path mean: `{name}` is a name or a `dep_` uid. DECISIONS 1.

import { isDeploymentUid, type TenantId } from '@holdfast/contract'
import type { Addressed } from '@holdfast/core'
import { deployments } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** A name cannot hold an underscore, so a text is never both. */
export const addressedBy = (text: string): Addressed =>
  isDeploymentUid(text) ? { uid: text } : { name: text }

/** The name to look the record up by; a uid that nobody has names nothing. */
export function nameOf(
  store: Pick<Store, 'list'>,
  tenant: TenantId,
  addressed: Addressed,
): string | undefined {
  if ('name' in addressed) return addressed.name
  return store.list(deployments, tenant).find(({ record }) => record.uid === addressed.uid)?.record.spec.name
}
