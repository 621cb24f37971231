// Which rows of a list with rows of equal height are in view while the window scrolls.

import { type RefObject, useEffect, useState } from 'react'

/** Rows enter and leave the document in groups of this size, and one group more is there above and below the view. */
const STEP = 4

interface Rows {
  readonly first: number
  /** The number of rows, which a short list does not have. */
  readonly count: number
}

export function useRowsInView(list: RefObject<HTMLElement | null>, height: number): Rows {
  const [rows, setRows] = useState(() => firstRows(innerHeight, height))
  useEffect(() => {
    const look = (): void => {
      const next = rowsInView(scrollY - (list.current?.offsetTop ?? 0), innerHeight, height)
      setRows((rows) => (rows.first === next.first && rows.count === next.count ? rows : next))
    }
    const cancel = afterPaint(look)
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      cancel()
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [list, height])
  return rows
}

/** The rows of a page that was just opened. Nothing is measured for them, because that would lay out the page twice. */
const firstRows = (viewHeight: number, height: number): Rows => ({
  first: 0,
  count: Math.ceil(viewHeight / height),
})

/** The rows for a view that begins so many pixels below the top of the list. */
export function rowsInView(top: number, viewHeight: number, height: number): Rows {
  const step = STEP * height
  const [start, end] = [Math.floor(top / step) - 1, Math.ceil((top + viewHeight) / step) + 1]
  const first = Math.max(0, start * STEP)
  return { first, count: Math.max(0, end * STEP - first) }
}

function afterPaint(run: () => void): () => void {
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(run)
  })
  return () => cancelAnimationFrame(frame)
}
