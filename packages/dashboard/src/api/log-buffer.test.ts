import type { LogLine } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { appendLines, EMPTY_LOG, lastTimeOf, MOST_LINES, matchingLines } from './log-buffer.ts'

const line = (second: number, text: string): LogLine => ({
  time: new Date(second * 1000).toISOString(),
  replica: 1,
  node: 'acme-1',
  stream: 'stdout',
  text,
})
const GAP: LogLine = { unavailable: { replica: 2, node: 'acme-2', reason: 'unreachable' } }

test('lines of the last time that a resumed stream repeats are left out, equal lines of other times are kept', () => {
  const first = appendLines(EMPTY_LOG, [line(1, 'a'), line(2, 'a'), line(2, 'b')])
  const second = appendLines(first, [line(2, 'a'), line(2, 'b'), line(2, 'c'), line(3, 'a')])
  expect(second.lines.map(({ line: each }) => 'text' in each && each.text)).toEqual(['a', 'a', 'b', 'c', 'a'])
  expect(second.lines.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4])
})

test('nothing new leaves the buffer as it is', () => {
  const buffer = appendLines(EMPTY_LOG, [line(1, 'a')])
  expect(appendLines(buffer, [line(1, 'a')])).toBe(buffer)
})

test('the oldest lines are dropped and counted', () => {
  const many = Array.from({ length: MOST_LINES + 5 }, (_, at) => line(at, 'x'))
  const buffer = appendLines(EMPTY_LOG, many)
  expect([buffer.lines.length, buffer.dropped, buffer.lines[0]?.id]).toEqual([MOST_LINES, 5, 5])
})

test('a stream resumes from the newest time, also after a note without time', () => {
  expect(lastTimeOf(EMPTY_LOG)).toBeUndefined()
  expect(lastTimeOf(appendLines(EMPTY_LOG, [line(7, 'a'), GAP]))).toBe(new Date(7_000).toISOString())
})

test('a filter keeps matching lines, and notes about missing ones', () => {
  const { lines } = appendLines(EMPTY_LOG, [line(1, 'Started'), line(2, 'panic'), GAP])
  expect(matchingLines(lines, 'PANIC').map(({ id }) => id)).toEqual([1, 2])
  expect(matchingLines(lines, '')).toBe(lines)
})
