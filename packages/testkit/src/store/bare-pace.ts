// How much of the time the machine itself held up: bare writes to etcd that go on beside what is measured, past all of our own
// code. What they lose by a slow disk, an election or a pause of this process, whatever else is written loses as well.

import { setTimeout as pause } from 'node:timers/promises'

export interface BarePace {
  /** What was lost so far, in milliseconds. */
  heldUpMs(): number
  stop(): Promise<void>
}

/** One write and the rest after it, on a machine that has nothing else to do. */
const USUAL_MS = 60
const REST_MS = 10
const PATIENCE_MS = 1_000

/** One write after another, each taken by all of the endpoints. */
export function startBarePace(endpoints: readonly string[]): BarePace {
  let going = true
  let lostMs = 0
  let since = performance.now()
  const lostNow = (): number => Math.max(0, performance.now() - since - USUAL_MS)
  const writing = (async () => {
    while (going) {
      since = performance.now()
      while (going && !(await isTaken(endpoints))) await pause(REST_MS)
      await pause(REST_MS)
      lostMs += lostNow()
    }
  })()
  return {
    heldUpMs: () => lostMs + (going ? lostNow() : 0),
    stop() {
      going = false
      return writing
    },
  }
}

async function isTaken(endpoints: readonly string[]): Promise<boolean> {
  const body = JSON.stringify({ key: Buffer.from('/bare-pace/').toString('base64'), value: '' })
  const write = async (endpoint: string): Promise<boolean> => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await fetch(`${endpoint}/v3/kv/put`, { method: 'POST', body, signal })
    await answer.arrayBuffer()
    return answer.ok
  }
  const taken = await Promise.allSettled(endpoints.map(write))
  return taken.every((one) => one.status === 'fulfilled' && one.value)
}
