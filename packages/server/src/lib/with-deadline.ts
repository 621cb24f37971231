// Deadlines for asynchronous work: stop waiting after a time or at a signal, or give the work a signal of its own.

/**
 * Waits for `work` for at most `ms`, then resolves to what `onTimeout` returns or rejects with what it throws. The work
 * itself continues, so it must be harmless without a reader: a read, or work that is shared with other callers.
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

/** The same, with a signal in place of a time. */
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

/** Runs `operation` with a signal that aborts after `ms`. The signal of an operation that has ended never aborts. */
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
