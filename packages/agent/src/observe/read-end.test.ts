// Tests when the agent asks the engine for proof of the end of a job's container.

import type { DesiredItem } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { EngineError, type InspectedContainer } from '../ports/engine.ts'
import { createExitNotes } from './exit-notes.ts'
import { readEnd } from './read-end.ts'

const IMAGE = 'r.test/web@sha256:0'
const JOB = desiredItem(IMAGE, { runs: 'once' })
const REPLICA = desiredItem(IMAGE)

const ended = (exitCode: number | null): InspectedContainer => ({
  id: 'c',
  name: 'job',
  state: exitCode === null ? 'running' : 'exited',
  startedAt: 't1',
  finishedAt: exitCode === null ? null : 't2',
  exitCode,
  restarts: 0,
  health: 'none',
  address: null,
  oomKilled: false,
  failedChecks: undefined,
  error: '',
  labels: {},
  settings: { HostConfig: {}, Mounts: [], NetworkSettings: { Networks: {} } },
})

/** An old engine whose history has this exit code. */
function anEngine(history: number | undefined) {
  const engine = {
    asked: 0,
    history,
    version: async () => ({ version: '20.10', apiVersion: '1.41' }),
    async findExit() {
      engine.asked += 1
      return engine.history
    },
  }
  return engine
}

test('reports no exit code of a job whose end is not in the history', async () => {
  const { found, note } = await readEnd(anEngine(undefined), createExitNotes(), JOB, ended(0))
  expect([found.exitCode, found.isEndUnknown, note]).toEqual([null, true, undefined])
})

test('remembers an end that it found in the history, because the engine forgets it', async () => {
  const [engine, exits] = [anEngine(0), createExitNotes()]
  await readEnd(engine, exits, JOB, ended(0))
  engine.history = undefined
  const { found } = await readEnd(engine, exits, JOB, ended(0))
  expect([found.exitCode, found.isEndUnknown, engine.asked]).toEqual([0, undefined, 1])
})

test('prefers the announced exit code to the record of an engine that was killed', async () => {
  const exits = createExitNotes()
  exits.noteExit('c', 3)
  const { found, note } = await readEnd(anEngine(undefined), exits, JOB, ended(0))
  expect([found.exitCode, note?.code]).toEqual([3, 3])
})

test('decides nothing while the history cannot be read', async () => {
  const away = async () => {
    throw new EngineError('timeout', 'The engine did not answer.')
  }
  await expect(readEnd({ ...anEngine(0), findExit: away }, createExitNotes(), JOB, ended(0))).rejects.toThrow(
    'did not answer',
  )
  await expect(
    readEnd({ ...anEngine(undefined), version: away }, createExitNotes(), JOB, ended(0)),
  ).rejects.toThrow('did not answer')
})

const unasked: readonly [string, DesiredItem, number | null][] = [
  ['a replica that ended with 0', REPLICA, 0],
  ['a replica that ended with 255', REPLICA, 255],
  ['a job that runs', JOB, null],
  ['a job that ended with 3', JOB, 3],
]
test.each(unasked)('does not ask for the history of %s', async (_about, item, exitCode) => {
  const engine = anEngine(undefined)
  const { found } = await readEnd(engine, createExitNotes(), item, ended(exitCode))
  expect([found.exitCode, found.isEndUnknown, engine.asked]).toEqual([exitCode, undefined, 0])
})
