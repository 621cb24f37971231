// A worker thread that searches the scenarios it receives, so that a modified copy of the packages can be searched.

import { threadCpuUsage } from 'node:process'
import { parentPort } from 'node:worker_threads'
import { type SearchLimits, search } from './search.ts'
import type { Scenario } from './world.ts'

interface Asked extends SearchLimits {
  readonly scenario: Scenario
}

parentPort?.on('message', ({ scenario, ...limits }: Asked) => {
  const before = threadCpuUsage()
  const result = search(scenario, limits)
  const { user, system } = threadCpuUsage(before)
  parentPort?.postMessage({ ...result, cpuSeconds: (user + system) / 1_000_000 })
})
