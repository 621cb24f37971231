// A part of the shell whose code no person needs before the page shows its data, such as a menu: its code is read once nothing
// else is. Without a connection the page stays without it, and tries again.

import { useIsFetching } from '@tanstack/react-query'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'

interface Props<P> {
  /** Reads the code. Must be the same function in each render. */
  load(): Promise<ComponentType<P>>
  readonly props: P
  /** Reads the code at once, because a person asked for it. */
  readonly now?: boolean
  /** Shown until the code is there. */
  readonly fallback?: ReactNode
}

/** A page reads one thing after another; a pause this long means that it has all of them. */
const PAUSE_MS = 200
const RETRY_MS = 2_000

export function Later<P extends object>({ load, props, now = false, fallback = null }: Props<P>) {
  const isReading = useIsFetching() > 0
  const [Part, setPart] = useState<ComponentType<P>>()
  const [failures, setFailures] = useState(0)
  useEffect(() => {
    if (Part !== undefined || (isReading && !now)) return
    const read = (): void =>
      void load().then(
        (loaded) => setPart(() => loaded),
        () => setFailures((count) => count + 1),
      )
    const timer = setTimeout(read, failures > 0 ? RETRY_MS : now ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [Part, isReading, now, load, failures])
  return Part === undefined ? fallback : <Part {...props} />
}
