// The versions of secrets that the next attempt of a job uses: those that were pinned when the job was created, or the new
// one of a rotation after its cutover, or the old one again if the cutover is aborted. A container that runs keeps its
// version. See docs/design/jobs.md#secrets

import type { TenantId } from '@holdfast/contract'
import { type Pins, pinOf } from '@holdfast/core'
import { storedPins } from '../../../operations/deployments/write/judge-secrets.ts'
import { labelsOf } from '../../../operations/secrets/versions/claim-credentials.ts'
import { pathOf } from '../../../operations/secrets/versions/version-uses.ts'
import { credentials, type StoredCredential, type StoredJob } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'

type Rotation = NonNullable<StoredCredential['rotation']>

/** Undefined if no version is pinned. */
export function currentPins(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { spec, pins = {} }: Pick<StoredJob, 'spec' | 'pins'>,
): StoredJob['pins'] {
  const moved: { [label: string]: number } = {}
  for (const [label, namespace] of labelsOf(spec).entries()) {
    const credential = store.get(inTenant(tenant, credentials, label))?.record
    const pin = pinOf(pins, pathOf({ namespace, label })) ?? credential?.initial ?? null
    const version = credential?.rotation === undefined ? pin : versionIn(credential.rotation, pin)
    if (version !== null) moved[label] = version
  }
  return storedPins(moved satisfies Pins).pins
}

/** An aborted cutover withdraws the new version, which is destroyed once nothing uses it. */
function versionIn({ phase, aborting, old, new: next }: Rotation, pin: number | null): number | null {
  if (phase !== 'cutover') return pin
  const [from, to] = aborting === true ? [next, old] : [old, next]
  return pin === from ? to : pin
}
