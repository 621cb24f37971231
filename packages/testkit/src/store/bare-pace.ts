// Measures how much time the machine itself loses. Test writes go to etcd during a measurement, without the product's
// code. A slow disk, an election or a pause of this process delays them as much as any other write.

import { setTimeout as pause } from 'node:timers/promises'

export interface BarePace {
  /** Milliseconds by which the machine has delayed the test writes so far, compared with an idle machine. */
  heldUpMs(): number
  stop(): Promise<void>
}

/** Time of one test write and the pause after it on an idle machine, in milliseconds. */
const USUAL_MS = 60
const PAUSE_MS = 10
const TIMEOUT_MS = 1_000

/** Starts test writes, one after another, each to all endpoints. */
export function startBarePace(endpoints: readonly string[]): BarePace {
  let going = true
  let lostMs = 0
  let since = performance.now()
  const lostNow = (): number => Math.max(0, performance.now() - since - USUAL_MS)
  const writing = (async () => {
    while (going) {
      since = performance.now()
      while (going && !(await isWritten(endpoints))) await pause(PAUSE_MS)
      await pause(PAUSE_MS)
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

async function isWritten(endpoints: readonly string[]): Promise<boolean> {
  const body = JSON.stringify({ key: Buffer.from('/bare-pace/').toString('base64'), value: '' })
  const write = async (endpoint: string): Promise<boolean> => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(`${endpoint}/v3/kv/put`, { method: 'POST', body, signal })
    await answer.arrayBuffer()
    return answer.ok
  }
  const written = await Promise.allSettled(endpoints.map(write))
  return written.every((one) => one.status === 'fulfilled' && one.value)
}
