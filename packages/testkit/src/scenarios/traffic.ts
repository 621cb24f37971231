// Requests for deployments of one tenant through the routers of all its nodes, for as long as a test file runs, beside the number
// of ready replicas. A test checks after each of its steps that no client has noticed the step.

import { describeFailures, type Load, type LoadResult, startLoad } from '@holdfast/testkit'
import { expect } from 'vitest'
import { edgeOf, hostOf, nodesOf, untilServed } from './routed-page.ts'
import type { LabPlatform } from './start-lab-platform.ts'
import { type ReadyWatch, watchReady } from './watch-ready.ts'

export interface Traffic {
  /** Starts the requests for a deployment once the router of every node serves it. */
  begin(name: string, perSecond: number): Promise<void>
  /**
   * Checks that no request for the deployment has failed so far, that some were sent since the previous call, and that there
   * were never fewer ready replicas since then.
   */
  expectUnnoticed(name: string, fewestReady: number): void
  /** The requests for a deployment so far. */
  resultOf(name: string): LoadResult
  /** Ends all requests; returns the results by deployment. */
  stop(): Promise<ReadonlyMap<string, LoadResult>>
}

interface Flow {
  readonly load: Load
  readonly ready: ReadyWatch
  /** Number of requests that were sent before the previous check. */
  checked: number
}

export function startTraffic(cluster: LabPlatform, tenant: 'acme' | 'globex'): Traffic {
  const flows = new Map<string, Flow>()
  const flowOf = (name: string): Flow => {
    const found = flows.get(name)
    if (found === undefined) throw new Error(`there are no requests for ${name}`)
    return found
  }
  return {
    async begin(name, perSecond) {
      const nodes = nodesOf(cluster, tenant)
      for (const node of nodes) await untilServed(cluster, node, name)
      const targets = nodes.map((node) => edgeOf(cluster, node))
      const load = startLoad({ targets, host: hostOf(name), perSecond })
      const ready = watchReady(cluster.store, cluster.platform[tenant].id, name)
      flows.set(name, { load, ready, checked: 0 })
    },
    expectUnnoticed(name, fewestReady) {
      const flow = flowOf(name)
      const { failures, sent } = flow.load.result()
      expect(failures, `${name}: ${describeFailures(failures)}`).toEqual([])
      expect(sent - flow.checked, `requests for ${name}`).toBeGreaterThan(0)
      expect(flow.ready.lowest(), `ready replicas of ${name}`).toBeGreaterThanOrEqual(fewestReady)
      flow.checked = sent
    },
    resultOf: (name) => flowOf(name).load.result(),
    async stop() {
      for (const { ready } of flows.values()) ready.stop()
      const stopped = [...flows].map(async ([name, { load }]) => [name, await load.stop()] as const)
      return new Map(await Promise.all(stopped))
    },
  }
}
