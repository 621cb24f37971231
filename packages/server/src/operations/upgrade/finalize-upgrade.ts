// `holdfast-server upgrade finalize`: allows the servers to write the newest form of records, after which older servers
// cannot start (docs/guides/upgrade.md#finalize).

import { VERSION } from '@holdfast/contract'
import { finalizeForms } from '../../store/demand-form.ts'
import { FIRST_FORMAT, formatAddress } from '../../store/format.ts'
import { newestForm } from '../../store/records/collection.ts'
import { platform } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'

export interface Finalized {
  readonly ok: boolean
  /** One line for the operator. */
  readonly text: string
}

export async function finalizeUpgrade(store: Store): Promise<Finalized> {
  await store.fresh()
  if (!store.has(globally(platform, 'id')))
    return { ok: false, text: 'The store has no platform. Check etcd.root; nothing was changed.' }
  const newest = newestForm(store.forms)
  const change = await finalizeForms(store)
  if (change.kind === 'behind')
    return {
      ok: false,
      text: `These servers cannot read form ${newest}: ${change.servers.join(', ')}. Upgrade them to ${VERSION}, or wait 15 s if they were stopped, then run this again. Nothing was changed.`,
    }
  const { by } = store.get(formatAddress)?.record ?? FIRST_FORMAT
  const before = change.kind === 'raise' ? 'Records are written in' : 'Nothing to do: records are written in'
  return { ok: true, text: `${before} form ${newest}. Servers older than ${by} can no longer start.` }
}
