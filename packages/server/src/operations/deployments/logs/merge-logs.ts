// The logs of several containers as one. What is kept is merged in the order of time, line by line. What is followed comes
// when it comes: lines that arrive within a short window of each other are put in order before they are told.

import type { LogLine } from '@holdfast/contract'
import type { HeldLine } from './log-buffer.ts'
import type { LogSource } from './log-source.ts'

/** Wakes whoever waits for news of any source. */
export interface News {
  readonly signal: AbortSignal
  tell(): void
  /** Ends at the next news, or at once where there were some since the last wait, or when nobody reads any more. */
  wait(): Promise<void>
}

export function createNews(signal: AbortSignal): News {
  let fresh = false
  let wake: (() => void) | undefined
  const tell = (): void => {
    fresh = true
    wake?.()
  }
  signal.addEventListener('abort', tell)
  return {
    signal,
    tell,
    async wait() {
      if (!fresh && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      wake = undefined
      fresh = false
    },
  }
}

export function shownLine({ target }: LogSource, { time, what }: HeldLine): LogLine {
  const { replica, node } = target
  return 'skipped' in what
    ? { skipped: { replica, ...what.skipped } }
    : { time, replica, node, stream: what.stream, text: what.text }
}

interface Taken {
  readonly source: LogSource
  readonly line: HeldLine
}

/** In the order of time over all sources: a source that may still say something earlier is waited for. */
export async function* mergeKept(sources: readonly LogSource[], news: News): AsyncGenerator<Taken> {
  while (!news.signal.aborted) {
    const open = sources.filter(({ lines, ended }) => lines.length > 0 || !ended)
    if (open.length === 0) return
    if (open.some(({ lines }) => lines.length === 0)) {
      await news.wait()
      continue
    }
    const source = open.reduce((first, other) => (headTime(other) < headTime(first) ? other : first))
    const line = source.take()
    if (line !== undefined) yield { source, line }
  }
}

const headTime = ({ lines }: LogSource): string => lines[0]?.time ?? ''

/** What several sources have now, in the order of time; lines of one source stay in theirs. */
export function takeAll(sources: Iterable<LogSource>): Taken[] {
  const taken: Taken[] = []
  for (const source of sources) {
    for (let line = source.take(); line !== undefined; line = source.take()) taken.push({ source, line })
  }
  return taken.sort((left, right) =>
    left.line.time < right.line.time ? -1 : left.line.time > right.line.time ? 1 : 0,
  )
}

export interface LastLines {
  push(taken: Taken): void
  lines(): LogLine[]
}

/** Of the last lines so many bytes are held at most; what does not fit is told as skipped. */
const MAX_HELD_BYTES = 8 * 1024 * 1024

export function createLastLines(count: number): LastLines {
  const held: Taken[] = []
  const lost = new Map<number, { lines: number; bytes: number }>()
  let bytes = 0
  const dropFirst = (wanted: boolean): void => {
    const first = held.shift()
    if (first === undefined) return
    bytes -= first.line.bytes
    if (!wanted) return
    const { replica } = first.source.target
    const before = lost.get(replica) ?? { lines: 0, bytes: 0 }
    lost.set(replica, { lines: before.lines + 1, bytes: before.bytes + first.line.bytes })
  }
  return {
    push(taken) {
      held.push(taken)
      bytes += taken.line.bytes
      if (held.length > count) {
        // What falls out by count was not asked for, nor what was lost before it.
        lost.clear()
        dropFirst(false)
      }
      while (bytes > MAX_HELD_BYTES) dropFirst(true)
    },
    lines: () => [
      ...[...lost].map(([replica, gap]): LogLine => ({ skipped: { replica, ...gap } })),
      ...held.map(({ source, line }) => shownLine(source, line)),
    ],
  }
}
