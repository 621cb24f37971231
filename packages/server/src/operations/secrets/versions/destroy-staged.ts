// After a definite refusal: what was staged for it goes, and then its intents. Whatever cannot be done now the janitor does.
// Never called when the outcome is not known (SAFETY 4a, step 6).

import type { TenantId } from '@holdfast/contract'
import { intents } from '../../../store/records.ts'
import { StoreUnavailableError } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'
import type { StageDeps, StagedVersion } from './stage-version.ts'

export async function destroyStaged(
  { store, secrets }: Pick<StageDeps, 'store' | 'secrets'>,
  tenant: TenantId,
  staged: readonly StagedVersion[],
): Promise<void> {
  const destroyed = await Promise.all(
    staged.map(
      async ({ path, version }) => (await secrets.destroyVersion(tenant, path, version)).kind === 'ok',
    ),
  )
  await endIntents(
    store,
    staged.filter((_, at) => destroyed[at]),
  )
}

/** Of versions that are destroyed, or listed. */
export async function endIntents(store: StageDeps['store'], over: readonly StagedVersion[]): Promise<void> {
  if (over.length === 0) return
  const ended = store.transact((transaction) => {
    for (const { intent } of over) transaction.delete(globally(intents, intent))
    return { kind: 'commit', result: undefined }
  })
  await ended.catch((error: unknown) => {
    if (!(error instanceof StoreUnavailableError)) throw error
  })
}
