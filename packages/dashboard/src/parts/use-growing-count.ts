// How many entries of a long list are in the document: those of the first screen at once, the others in steps, so that a long
// page opens as fast as a short one.

import { startTransition, useEffect, useState } from 'react'

const FIRST = 16
const STEP = 16
/** Time for the browser to paint and to react between two steps. */
const PAUSE_MS = 30

export function useGrowingCount(total: number): number {
  const [count, setCount] = useState(FIRST)
  useEffect(() => {
    if (count >= total) return
    const timer = setTimeout(() => startTransition(() => setCount(count + STEP)), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [count, total])
  return Math.min(count, total)
}
