// The connection from one server to the in-memory store, with the delays and losses that the simulation injects. A sent
// request is applied even if the caller no longer waits, as on a real network.

import { EngineError } from '@holdfast/server/ports/key-value'

export type LineCall = 'range' | 'transact' | 'watch'

/**
 * Faults of a connection. `refuse`: not applied, and the caller gets an error. `lose_request`: not applied, and the
 * caller waits until its deadline. `lose_answer`: applied, and the connection breaks before the answer. Each fault also
 * cuts a watch.
 */
export type LineFault = 'none' | 'refuse' | 'lose_request' | 'lose_answer'

export interface LineOptions {
  /** Round-trip time of a request, computed for each call. */
  readonly delayMs?: (call: LineCall) => number
  readonly fault?: (call: LineCall) => LineFault
}

export interface Line {
  readonly delayMs: (call: LineCall) => number
  readonly fault: (call: LineCall) => LineFault
  closed: boolean
}

/** Runs a function after a delay, never synchronously: no engine answers before the call has returned. */
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
  // A read changes nothing, so only the outcome of a transaction can be unknown.
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
