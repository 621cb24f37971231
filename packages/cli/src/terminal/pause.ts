// A sleep that Ctrl-C ends.

/** Waits for a time. Resolves with false if Ctrl-C ended the wait early. */
export function pause(ms: number, interrupted: AbortSignal): Promise<boolean> {
  if (interrupted.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      interrupted.removeEventListener('abort', end)
      resolve(true)
    }, ms)
    interrupted.addEventListener('abort', end, { once: true })
  })
}
