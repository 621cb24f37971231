// The way from one server to the store in memory: how long it takes and what is lost on it, as the simulation says.
// What was sent takes effect although nobody waits for the answer any more, as it does on a real network.

import { EngineError } from '@holdfast/server/ports/key-value'

export type LineCall = 'range' | 'transact' | 'watch'

/**
 * `refuse`: not taken, and the caller is told so. `lose_request`: not taken, and the caller waits until its deadline.
 * `lose_answer`: taken, and the connection breaks before the answer. A watch is cut off by each of them.
 */
export type LineFault = 'none' | 'refuse' | 'lose_request' | 'lose_answer'

export interface LineOptions {
  /** There and back, asked anew for each call. */
  readonly delayMs?: (call: LineCall) => number
  readonly fault?: (call: LineCall) => LineFault
}

export interface Line {
  readonly delayMs: (call: LineCall) => number
  readonly fault: (call: LineCall) => LineFault
  closed: boolean
}

/** Not later in this turn, even without a delay: no engine answers its caller before the call has returned. */
export function later(ms: number, run: () => void): void {
  if (ms > 0) setTimeout(run, ms)
  else setImmediate(run)
}

export interface LineRequest<T> {
  readonly call: LineCall
  readonly deadlineMs: number
  apply(): T
}

export function sendOver<T>(line: Line, request: LineRequest<T>): Promise<T> {
  const { call, deadlineMs } = request
  const fault = line.closed ? 'refuse' : line.fault(call)
  const delayMs = line.delayMs(call)
  // What has only been read was not applied, whatever became of the answer.
  const unknown = call === 'transact' ? 'unknown' : 'no'
  const overdue = () => new EngineError('deadline', unknown, 'no answer in time')
  const cut = () => new EngineError('unavailable', unknown, 'the connection broke')
  return new Promise((resolve, reject) => {
    if (fault === 'refuse')
      return later(delayMs, () => reject(new EngineError('unavailable', 'no', 'not reachable')))
    if (fault === 'lose_request' || delayMs >= deadlineMs) later(deadlineMs, () => reject(overdue()))
    if (fault === 'lose_request') return
    const deliver = (settle: () => void) =>
      fault === 'lose_answer' || line.closed ? reject(cut()) : settle()
    later(delayMs / 2, () => {
      const settle = outcomeOf(request.apply, resolve, reject)
      if (delayMs > 0) later(delayMs / 2, () => deliver(settle))
      else deliver(settle)
    })
  })
}

function outcomeOf<T>(
  apply: () => T,
  resolve: (answer: T) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const answer = apply()
    return () => resolve(answer)
  } catch (error) {
    return () => reject(error)
  }
}
