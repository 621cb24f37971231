// Merges the logs of several containers. Stored lines are merged by time. New lines that are followed live are sorted
// within a short window of arrival.

import { defined, type LogEntry, type LogLine, type LogSkip } from '@holdfast/contract'
import type { HeldLine } from './log-buffer.ts'
import type { LogSource } from './log-source.ts'
import type { LogTarget } from './log-targets.ts'

/** Wakes the reader of merged logs when any container's log has new lines. */
export interface Wakeup {
  readonly signal: AbortSignal
  notify(): void
  /** Resolves when new lines arrive, at once if lines arrived since the previous wait, or when the reader disconnects. */
  wait(): Promise<void>
}

export function createWakeup(signal: AbortSignal): Wakeup {
  let notified = false
  let wake: (() => void) | undefined
  const notify = (): void => {
    notified = true
    wake?.()
  }
  signal.addEventListener('abort', notify)
  return {
    signal,
    notify,
    async wait() {
      if (!notified && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      wake = undefined
      notified = false
    },
  }
}

export function shownLine({ target }: LogSource, { time, what }: HeldLine): LogLine {
  const { node } = target
  return 'skipped' in what
    ? { skipped: { ...shownReplica(target), ...what.skipped } }
    : { time, ...shownReplica(target), node, stream: what.stream, text: what.text }
}

/** The number of a replica, with the mark of a canary. */
export const shownReplica = ({ replica, canary }: LogTarget): Pick<LogEntry, 'replica' | 'canary'> => ({
  replica,
  ...defined({ canary }),
})

interface SourcedLine {
  readonly source: LogSource
  readonly line: HeldLine
}

/** Yields log lines of all sources by time; waits for a source that may still send an earlier line. */
export async function* mergeKept(sources: readonly LogSource[], wakeup: Wakeup): AsyncGenerator<SourcedLine> {
  while (!wakeup.signal.aborted) {
    const open = sources.filter(({ lines, ended }) => lines.length > 0 || !ended)
    if (open.length === 0) return
    if (open.some(({ lines }) => lines.length === 0)) {
      await wakeup.wait()
      continue
    }
    const source = open.reduce((first, other) => (headTime(other) < headTime(first) ? other : first))
    const line = source.take()
    if (line !== undefined) yield { source, line }
  }
}

const headTime = ({ lines }: LogSource): string => lines[0]?.time ?? ''

/** Removes all buffered log lines and returns them sorted by time; lines of one source keep their order. */
export function takeAll(sources: Iterable<LogSource>): SourcedLine[] {
  const taken: SourcedLine[] = []
  for (const source of sources) {
    for (let line = source.take(); line !== undefined; line = source.take()) taken.push({ source, line })
  }
  return taken.sort((left, right) =>
    left.line.time < right.line.time ? -1 : left.line.time > right.line.time ? 1 : 0,
  )
}

export interface LastLines {
  push(taken: SourcedLine): void
  lines(): LogLine[]
}

/** Maximum bytes of log lines held in memory for one `tail` request; older lines are reported as skipped. */
const MAX_HELD_BYTES = 8 * 1024 * 1024

export function createLastLines(count: number): LastLines {
  const held: SourcedLine[] = []
  const lost = new Map<string, LogSkip['skipped']>()
  let bytes = 0
  const dropFirst = (report: boolean): void => {
    const first = held.shift()
    if (first === undefined) return
    bytes -= first.line.bytes
    if (!report) return
    const { replica, canary } = first.source.target
    const key = canary === true ? `${replica} canary` : `${replica}`
    const before = lost.get(key) ?? { ...shownReplica(first.source.target), lines: 0, bytes: 0 }
    lost.set(key, { ...before, lines: before.lines + 1, bytes: before.bytes + first.line.bytes })
  }
  return {
    push(taken) {
      held.push(taken)
      bytes += taken.line.bytes
      if (held.length > count) {
        // The client requested only the last `count` lines, so gaps among earlier lines are not reported.
        lost.clear()
        dropFirst(false)
      }
      while (bytes > MAX_HELD_BYTES) dropFirst(true)
    },
    lines: () => [
      ...[...lost.values()].map((skipped): LogLine => ({ skipped })),
      ...held.map(({ source, line }) => shownLine(source, line)),
    ],
  }
}
