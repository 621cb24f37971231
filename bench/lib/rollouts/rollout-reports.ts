// Counts the stored status reports of replicas, because each report uses CPU time of the machine that runs the engines.

import { observations } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'

interface ReportCount {
  /** Number of status reports since the count was started. */
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
