// Runs a search in a worker thread, of this copy of the packages or of another one.

import { Worker } from 'node:worker_threads'
import type { SearchLimits, SearchResult } from './search.ts'
import type { Scenario } from './world.ts'

export interface TimedResult extends SearchResult {
  readonly cpuSeconds: number
}

const OWN_WORKER = new URL('./search-worker.ts', import.meta.url)
const HEAP_MB = 12_000

export const showSearch = (name: string, { states, cpuSeconds, broken, exhausted }: TimedResult): string =>
  `${name}: ${states.toLocaleString('en')} states, ${cpuSeconds.toFixed(1)} s of CPU, ${broken ?? (exhausted ? 'clean' : 'clean as far as it went')}`

export async function runSearch(
  scenario: Scenario,
  limits: SearchLimits,
  url = OWN_WORKER,
): Promise<TimedResult> {
  const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
  try {
    return await new Promise<TimedResult>((resolve, reject) => {
      worker.on('error', reject)
      worker.on('message', resolve)
      worker.postMessage({ scenario, ...limits })
    })
  } finally {
    await worker.terminate()
  }
}
