// The lines of a log. Only those near the view are in the document. The view stays at the newest line until a person scrolls
// up.

import type { LogLine } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import { texts } from '../../texts/en.ts'
import { formatTime, formatUtc } from '../../texts/format.ts'
import { useNow } from '../use-now.ts'
import styles from './log-view.module.css'
import { plainText } from './plain-text.ts'

/** A line, and its identity on the page. */
interface ShownLine {
  readonly id: number
  readonly line: LogLine
}

const LINE_PX = 20
/** A view within this distance of the end counts as being at the end. */
const NEAR_PX = 40

interface Props {
  readonly lines: readonly ShownLine[]
  /** A low view, for a page on which the log is one part of several. */
  readonly low?: boolean
}

export function LogView({ lines, low = false }: Props) {
  const view = useRef<HTMLDivElement>(null)
  const [atEnd, setAtEnd] = useState(true)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => view.current,
    estimateSize: () => LINE_PX,
    getItemKey: (at) => lines[at]?.id ?? at,
    overscan: 20,
  })
  // The height grows with new lines, and again when lines that wrap have been measured.
  const height = rows.getTotalSize()
  useLayoutEffect(() => {
    if (atEnd && height > 0) view.current?.scrollTo({ top: view.current.scrollHeight })
  }, [atEnd, height])
  const lastTop = useRef(0)
  const onScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = view.current ?? {}
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) setAtEnd(true)
    else if (scrollTop < lastTop.current) setAtEnd(false)
    lastTop.current = scrollTop
  }
  return (
    <div className={styles.frame}>
      <div
        ref={view}
        className={styles.view}
        {...(low ? { 'data-low': true } : {})}
        role="log"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={texts.logs.title}
        onScroll={onScroll}
      >
        <div className={styles.lines} style={{ height }}>
          {rows.getVirtualItems().map(({ index, start, key }) => {
            const kept = lines[index]
            return kept === undefined ? null : (
              <div
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className={styles.row}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Line line={kept.line} />
              </div>
            )
          })}
        </div>
      </div>
      {atEnd ? null : (
        <div className={styles.jump}>
          <Button variant="default" size="compact-sm" onClick={() => setAtEnd(true)}>
            {texts.logs.newest}
          </Button>
        </div>
      )}
    </div>
  )
}

function Line({ line }: { readonly line: LogLine }) {
  const now = useNow()
  if ('skipped' in line)
    return <span className={styles.note}>{texts.logs.skipped(line.skipped.lines, line.skipped.replica)}</span>
  if ('unavailable' in line) {
    const { replica, node, reason } = line.unavailable
    return (
      <span className={styles.note}>
        {texts.logs.unavailable(replica, node, reason.replaceAll('_', ' '))}
      </span>
    )
  }
  return (
    <>
      <time className={styles.time} dateTime={line.time} title={formatUtc(line.time)}>
        {formatTime(line.time, now)}
      </time>
      <span className={styles.replica} title={line.node}>
        {line.replica}
      </span>
      <span className={styles.text} data-stream={line.stream}>
        {plainText(line.text)}
      </span>
    </>
  )
}
