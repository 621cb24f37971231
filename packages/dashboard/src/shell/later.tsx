// Code that no person needs before the page shows its data, such as menus: it is read once nothing else is.

import { useIsFetching } from '@tanstack/react-query'
import { type ReactNode, Suspense, useEffect, useState } from 'react'

interface Props {
  /** Reads the code at once, because a person asked for it. */
  readonly now?: boolean
  /** Shown until then. */
  readonly fallback?: ReactNode
  /** Components that are loaded when they are first rendered. */
  readonly children: ReactNode
}

/** A page reads one thing after another; a pause this long means that it has all of them. */
const PAUSE_MS = 200

export function Later({ now = false, fallback = null, children }: Props) {
  const isReading = useIsFetching() > 0
  const [isDue, setDue] = useState(now)
  useEffect(() => {
    if (isDue || isReading) return
    const timer = setTimeout(() => setDue(true), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [isDue, isReading])
  return isDue || now ? <Suspense fallback={fallback}>{children}</Suspense> : fallback
}
