// The container of a job stays until its log is kept, but not forever.

import type { ReplicaView } from '@holdfast/core/node'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { EngineError, type EngineFault } from '../ports/engine.ts'
import { createFailedLogs } from './keep-failed-logs.ts'

const MINUTE_MS = 60_000

/** The removal of a container whose log cannot be kept. */
function removal(runs: 'once' | undefined, fault: EngineFault = 'failed') {
  const item = desiredItem('test/web', runs === undefined ? {} : { runs })
  const container = { id: 'c', state: 'exited', startedAt: '2026-01-01T00:00:00Z', exitCode: 1 } as const
  const seen: ReplicaView['container'] = { ...container, restarts: 0, health: 'none', address: null }
  const quiet = { activity: undefined, creating: false, trouble: '', about: '', cause: '' }
  const view: ReplicaView = { item, container: seen, ...quiet, unverified: false, readySince: undefined }
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
  const engine = { isBroken: true, nowMs: 0, fault }
  const keep = async (): Promise<void> => {
    if (engine.isBroken) throw new EngineError(engine.fault, 'The disk is broken.')
  }
  const logs = { keep, read: async () => [], expire: async () => {}, keepOnly: async () => {} }
  const deps = { statuses: { view: () => view }, monotonicMs: () => engine.nowMs, log }
  const failed = createFailedLogs(logs, logs, deps)
  onTestFinished(failed.close)
  return { engine, lines, remove: async () => failed.beforeRemoval(item.assignmentId, 'c')?.() }
}

test('the container of a job stays until its log is kept', async () => {
  const { engine, lines, remove } = removal('once')
  await expect(remove()).rejects.toThrow('The disk is broken.')
  engine.nowMs = 9 * MINUTE_MS
  await expect(remove()).rejects.toThrow('The disk is broken.')
  engine.isBroken = false
  await remove()
  expect(lines).toEqual([])
})

test('after ten minutes the container of a job is removed without its log, which is reported', async () => {
  const { engine, lines, remove } = removal('once')
  await expect(remove()).rejects.toThrow()
  engine.nowMs = 10 * MINUTE_MS
  await remove()
  expect(lines.join()).toContain('log of a job could not be kept')
})

test('a container that another program is removing has no log to wait for', async () => {
  const { lines, remove } = removal('once', 'conflict')
  await remove()
  expect(lines.join()).toContain('log of a job could not be kept')
})

test('the ten minutes begin again after another program was about to remove the container', async () => {
  const { engine, remove } = removal('once')
  await expect(remove()).rejects.toThrow()
  engine.fault = 'conflict'
  await remove()
  engine.fault = 'failed'
  engine.nowMs = 10 * MINUTE_MS
  await expect(remove()).rejects.toThrow('The disk is broken.')
})

test('a container that is gone is left to the removal, which ignores it', async () => {
  await expect(removal('once', 'not_found').remove()).rejects.toThrow(EngineError)
})

test('the log of another container delays nothing', async () => {
  const { lines, remove } = removal(undefined)
  await remove()
  expect(lines.join()).toContain('log of a container was not kept')
})
