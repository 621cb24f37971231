// Kept logs are bounded in lines, bytes, number and age.

import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import type { InspectedContainer, LogRequest, LogSink } from '../ports/engine.ts'
import { createKeptLogs, JOB_LOGS, type KeptBounds } from './kept-logs.ts'

const TIME = '2026-01-01T00:00:00.000000000Z'
const HOUR_MS = 60 * 60_000
const INSPECTED: InspectedContainer = {
  id: 'c',
  name: 'web',
  labels: {},
  state: 'running',
  startedAt: null,
  finishedAt: null,
  exitCode: null,
  restarts: 0,
  health: 'none',
  address: null,
  oomKilled: false,
  failedChecks: undefined,
  error: '',
  settings: { HostConfig: {}, Mounts: [], NetworkSettings: { Networks: {} } },
}

/** Kept logs of an engine that has these lines for every container. */
function keptLogs(lines: readonly string[], startedAt: string | null = null, bounds?: KeptBounds) {
  const { path: folder } = makeTempFolder('kept-logs')
  let nowMs = Date.now()
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) })
  const read = { isWhole: true }
  const readLogs = async (_: string, __: LogRequest, sink: LogSink) => {
    for (const line of lines) sink.entry('stdout', Buffer.from(`${line}\n`))
    sink.end(read.isWhole)
    return { pause() {}, resume() {}, close() {} }
  }
  const inspectContainer = async () => ({ ...INSPECTED, startedAt })
  const engine = { readLogs, inspectContainer, readEnvironment: async () => [] }
  const kept = createKeptLogs({ engine, folder, now: () => nowMs, log }, bounds)
  let last = desiredItem('test/web')
  const keep = async (run: { endedAt?: string } = {}) => {
    const item = desiredItem('test/web')
    last = item
    await kept.keep({ item, containerId: 'c', ...run })
    return item.assignmentId
  }
  const keepAgain = () => kept.keep({ item: last, containerId: 'c' })
  const pass = (ms: number): void => {
    nowMs += ms
  }
  const names = () => readdirSync(join(folder, bounds?.folder ?? 'kept-logs'))
  return { ...kept, keep, keepAgain, pass, names, folder, warnings, engineRead: read }
}

test('keeps the last 200 lines', async () => {
  const { keep, read } = keptLogs(Array.from({ length: 500 }, (_, index) => `${TIME} ${index}`))
  const lines = await read(await keep())
  expect(lines.map(({ line }) => line)).toEqual(
    Array.from({ length: 200 }, (_, index) => `${TIME} ${index + 300}\n`),
  )
})

test('keeps no line of the run that the engine started before the log was read', async () => {
  const lines = [
    '2026-01-01T00:00:09.5Z last',
    '2026-01-01T00:00:10.010Z late',
    '2026-01-01T00:00:10.190Z next',
  ]
  const endedAt = '2026-01-01T00:00:10.000000000Z'
  const next = keptLogs(lines, '2026-01-01T00:00:10.200000000Z')
  const texts = (await next.read(await next.keep({ endedAt }))).map(({ line }) => line.split(' ')[1])
  expect(texts).toEqual(['last\n', 'late\n'])
  const only = keptLogs(lines, '2026-01-01T00:00:08.000000000Z')
  expect(await only.read(await only.keep({ endedAt }))).toHaveLength(3)
})

test('keeps at most 64 KiB', async () => {
  const { keep, read } = keptLogs(Array.from({ length: 100 }, () => `${TIME} ${'ü'.repeat(2000)}`))
  const lines = await read(await keep())
  const bytes = lines.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0)
  expect([lines.length, bytes <= 64 * 1024]).toEqual([16, true])
})

test('removes lines after an hour, unless their assignment still waits to be ready', async () => {
  const { keep, expire, names, pass } = keptLogs([`${TIME} a`])
  const [waiting, other] = [await keep(), await keep()]
  await expire(() => false)
  expect(names()).toHaveLength(2)
  pass(HOUR_MS + 1000)
  await expire((id) => id === waiting)
  expect(names()).toEqual([waiting])
  await expire(() => false)
  expect(names()).not.toContain(other)
  expect(names()).toEqual([])
})

test('keeps the logs of 256 containers, and drops the oldest ones', async () => {
  const { keep, expire, names, folder } = keptLogs([`${TIME} a`])
  const ids = await Promise.all(Array.from({ length: 260 }, () => keep()))
  for (const [index, id] of ids.entries())
    utimesSync(join(folder, 'kept-logs', id), 1_000_000 + index, Date.now() / 1000 - 1000 + index)
  await expire(() => true)
  expect(names().sort()).toEqual(ids.slice(4).sort())
})

test('keeps the logs of jobs for any time, and reports those that it drops beyond the bound', async () => {
  const { keep, expire, names, pass, folder, warnings } = keptLogs([`${TIME} a`], null, {
    ...JOB_LOGS,
    containers: 3,
  })
  const ids = [await keep(), await keep(), await keep()]
  for (const [index, id] of ids.entries()) utimesSync(join(folder, 'job-logs', id), 1, 1_000_000 + index)
  pass(8 * 24 * HOUR_MS)
  await expire(() => false)
  expect(names().sort()).toEqual(ids.toSorted())
  expect(warnings).toEqual([])
  const last = await keep()
  await expire(() => false)
  expect(names().sort()).toEqual([...ids.slice(1), last].sort())
  expect(warnings.join()).toContain(`"assignments":["${ids[0]}"]`)
})

test('keeps no part of a job log whose end could not be read', async () => {
  const { keep, engineRead, names } = keptLogs([`${TIME} a`], null, JOB_LOGS)
  await keep()
  engineRead.isWhole = false
  await expect(keep()).rejects.toThrow('did not return the whole log')
  expect(names()).toHaveLength(1)
})

test('keeps one log of an assignment at a time', async () => {
  const { keepAgain, keep, read } = keptLogs([`${TIME} a`])
  const id = await keep()
  await Promise.all(Array.from({ length: 20 }, () => keepAgain()))
  expect(await read(id)).toHaveLength(1)
})

test('reads nothing outside of its folder', async () => {
  const { read } = keptLogs([])
  expect(await read('../desired.json' as Parameters<typeof read>[0])).toEqual([])
})
