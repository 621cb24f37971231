// Deadlines for asynchronous work: stop waiting after a time or at a signal, or pass the work a signal that aborts it.

/**
 * Waits for `work` for at most `ms`, then resolves to the result of `onTimeout` or rejects with its error. The work
 * itself continues, so it must be harmless if its result is not used: a read, or work that is shared with other callers.
 */
export function withDeadline<T, Late = T>(
  ms: number,
  work: Promise<T>,
  onTimeout: () => Late,
): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settleWith(onTimeout, resolve, reject), Math.max(0, ms))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Waits for `work` until `signal` aborts, then returns the result or throws the error of `onAbort`. `work` continues. */
export function untilAborted<T, Late = T>(
  signal: AbortSignal,
  work: Promise<T>,
  onAbort: () => Late,
): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const late = (): void => settleWith(onAbort, resolve, reject)
    if (signal.aborted) late()
    signal.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
}

/** Runs `operation` with a signal that aborts after `ms`. The signal never aborts after the operation has ended. */
export async function withTimeoutSignal<T>(
  ms: number,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), ms)
  try {
    return await operation(deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}

function settleWith<T>(
  produce: () => T,
  resolve: (value: T) => void,
  reject: (reason: unknown) => void,
): void {
  try {
    resolve(produce())
  } catch (error) {
    reject(error)
  }
}
