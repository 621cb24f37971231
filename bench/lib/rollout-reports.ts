// How many reports of replicas were stored: each costs the node and the servers processor time that the engines want too.

import { observations } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'

interface ReportCount {
  /** Since it began. */
  count(): number
  close(): void
}

export function countReports(store: Store): ReportCount {
  let count = 0
  const close = store.subscribe((changes) => {
    for (const { kind, key } of changes) if (kind === 'put' && key.folder === observations.folder) count += 1
  })
  return { count: () => count, close }
}
