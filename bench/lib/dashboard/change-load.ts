// Changes deployments through the API at a constant rate: each gets a second replica, and loses it the next time.

import { setTimeout as pause } from 'node:timers/promises'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { deploymentBody, deploymentName } from './world.ts'

export interface ChangeLoad {
  /** Ends the changes, and returns how many were accepted and how many failed. */
  stop(): Promise<{ readonly done: number; readonly failed: number }>
}

export interface ChangeLoadOptions {
  readonly api: ApiClient
  readonly image: string
  readonly perSecond: number
  /** The deployments that change in turn. */
  readonly deployments: number
}

/** A server that is slower than the rate gets no more requests than this at a time. */
const MOST_AT_ONCE = 32

export function startChanges({ api, image, perSecond, deployments }: ChangeLoadOptions): ChangeLoad {
  const count = { done: 0, failed: 0 }
  const open = new Set<Promise<void>>()
  let stopped = false
  const change = async (index: number): Promise<void> => {
    const name = deploymentName(index % deployments)
    const replicas = Math.floor(index / deployments) % 2 === 0 ? 2 : 1
    const sent = await api.put(`/api/v1/deployments/${name}`, deploymentBody(image, name, replicas)).then(
      ({ status }) => status,
      () => 0,
    )
    if (sent === 200) count.done += 1
    else count.failed += 1
  }
  const run = async (): Promise<void> => {
    const began = performance.now()
    for (let index = 0; !stopped; index += 1) {
      await pause(Math.max(0, began + (index * 1000) / perSecond - performance.now()))
      if (open.size >= MOST_AT_ONCE) await Promise.race(open)
      const sent = change(index).finally(() => open.delete(sent))
      open.add(sent)
    }
    await Promise.all(open)
  }
  const running = run()
  return {
    async stop() {
      stopped = true
      await running
      return count
    },
  }
}
