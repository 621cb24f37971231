// Decides which samples the server gets: each heartbeat carries the newest round, and rounds that the server lacks follow in
// parts. See docs/design/usage.md#refill

import type { SampleRound } from '@holdfast/contract'
import { USAGE_STEP_MS } from '@holdfast/core/node'
import type { NodeSampler } from './sample-node.ts'
import type { UsagePart } from './usage-history.ts'

export interface UsageFeed {
  /** Begins to send to a server whose newest sample of this node has this age; undefined: it has none. */
  begin(newestAgeMs: number | undefined): void
  /** The round for this heartbeat; undefined without a new one, or while the server keeps no samples. */
  next(): Promise<SampleRound | undefined>
  /** Stops sending, until the next session. */
  end(): void
}

interface FeedDeps {
  readonly sampler: Pick<NodeSampler, 'history' | 'sample' | 'now'>
  /** Sends a part to the server; returns false without a session. */
  send(part: UsagePart): boolean
  /** The time between two parts, so that a large refill stays below the server's limit for messages. */
  readonly partMs?: number
  readonly stepMs?: number
}

const PART_MS = 1000

export function createUsageFeed(deps: FeedDeps): UsageFeed {
  const { sampler, send, partMs = PART_MS, stepMs = USAGE_STEP_MS } = deps
  const { history } = sampler
  let isActive = false
  /** The first round that this server has not got. */
  let unsent = 0
  /** The first round of a refill that has not ended. A session that ends before it leaves the server with a part. */
  let refillFrom: number | undefined
  let timer: NodeJS.Timeout | undefined
  const refill = (first: number, last: number): void => {
    const parts = history.parts(first, last)
    refillFrom = first
    timer = setInterval(() => {
      const part = parts.shift()
      const isSent = part === undefined || send(part(sampler.now()))
      if (isSent && parts.length > 0) return
      clearInterval(timer)
      timer = undefined
      if (isSent) refillFrom = undefined
    }, partMs)
  }
  const stop = (): void => {
    isActive = false
    clearInterval(timer)
    timer = undefined
  }
  return {
    begin(newestAgeMs) {
      stop()
      // The sample that the server has is a little older than it says, by the time that messages take.
      const known =
        newestAgeMs === undefined ? 0 : history.firstAfter(sampler.now() - newestAgeMs + stepMs / 2)
      unsent = Math.min(known, refillFrom ?? known)
      refillFrom = undefined
      isActive = true
    },
    async next() {
      if (!isActive) return undefined
      await sampler.sample()
      const number = history.newest()
      if (!isActive || number === undefined || number < unsent) return undefined
      const isBehind = unsent < number
      if (isBehind && timer === undefined) refill(unsent, number - 1)
      // Rounds that were missed during a refill follow after it.
      if (!isBehind || refillFrom === unsent) unsent = number + 1
      return history.latest(sampler.now())
    },
    end: stop,
  }
}
