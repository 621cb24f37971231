// `holdfast run` against scripted API responses.

import type { JobRecord, JobStatus } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aJob, aJobStatus, endedStatus, logText, pendingStatus, written } from '../../jobs/job.fixture.ts'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { run } from './run.ts'

const IMAGE = 'registry.example.com/shop/web:1.4.2'
const { id } = aJob()
const LOG = logText(['stdout', 'one row'], ['stderr', 'a notice'])

/** A resumed log begins with the lines of the time at which it broke. */
const LAST_LINE = `${LOG.trimEnd().split('\n').at(-1)}\n`

/** A platform on which the job has these states in turn; the last one stays. */
function platform(states: readonly JobStatus[], onCancel: () => void = () => {}) {
  const left = [...states]
  const job = (): JobRecord => aJob(left.length > 1 ? left.shift() : left[0])
  return scriptClient({
    'POST /jobs': written(aJob(pendingStatus())),
    get [`GET /jobs/${id}`]() {
      return job()
    },
    [`GET /jobs/${id}/logs?follow=true&tail=10000`]: LOG,
    [`GET /jobs/${id}/logs?tail=10000`]: LOG,
    [`GET /jobs/${id}/logs?tail=10000&since=2026-01-31T11%3A59%3A01.000Z`]: LAST_LINE,
    [`GET /jobs/${id}/logs?follow=true&tail=10000&since=2026-01-31T11%3A59%3A01.000Z`]: LAST_LINE,
    get [`DELETE /jobs/${id}`]() {
      onCancel()
      return aJob()
    },
  })
}

const typed = (terminal = scriptTerminal(), options: { readonly [option: string]: string | boolean } = {}) =>
  invocation(terminal, [IMAGE, './migrate'], options)

test('prints the log of the job and exits with its exit code', async () => {
  const terminal = scriptTerminal()
  const states = [pendingStatus(), aJobStatus(), endedStatus(3)]
  expect(await run.run(typed(terminal), platform(states))).toBe(3)
  expect(terminal.printed.out).toBe('one row\n')
  expect(terminal.printed.err).toContain('a notice\n')
  expect(terminal.printed.err).toContain(`job/${id} failed with exit code 3`)
})

test('exits with 0 after a job that succeeded before its log was opened', async () => {
  const terminal = scriptTerminal()
  expect(await run.run(typed(terminal), platform([endedStatus(0)]))).toBe(0)
  expect(terminal.printed.out).toBe('one row\n')
  expect(terminal.printed.err).not.toContain('error')
})

test('prints the log of a container that ended before it was seen running', async () => {
  const terminal = scriptTerminal()
  const states = [pendingStatus(), endedStatus(0, { startedAt: null })]
  expect(await run.run(typed(terminal), platform(states))).toBe(0)
  expect(terminal.printed.out).toBe('one row\n')
})

test('prints the output of an attempt that is over before the job is read again', async () => {
  const terminal = scriptTerminal()
  const [first = '', second = ''] = logText(['stdout', 'attempt 1'], ['stdout', 'attempt 2']).split(/(?<=\n)/)
  const states = [aJob(pendingStatus()), aJob(endedStatus(0, { attempts: 2 }))]
  const client = scriptClient({
    'POST /jobs': written(aJob(pendingStatus())),
    get [`GET /jobs/${id}`]() {
      return states.length > 1 ? states.shift() : states[0]
    },
    [`GET /jobs/${id}/logs?follow=true&tail=10000`]: `${first}${second}`,
    [`GET /jobs/${id}/logs?tail=10000`]: second,
    [`GET /jobs/${id}/logs?tail=10000&since=2026-01-31T11%3A59%3A01.000Z`]: second,
    [`GET /jobs/${id}/logs?follow=true&tail=10000&since=2026-01-31T11%3A59%3A01.000Z`]: second,
  })
  expect(await run.run(typed(terminal), client)).toBe(0)
  expect(terminal.printed.out).toBe('attempt 1\nattempt 2\n')
})

test('does not report that the container runs between the lines that show it', async () => {
  const terminal = scriptTerminal()
  expect(await run.run(typed(terminal), platform([pendingStatus(), aJobStatus(), endedStatus(0)]))).toBe(0)
  expect(terminal.printed.err).not.toContain('migrate: running')
})

test('shows why a job has no node', async () => {
  const terminal = scriptTerminal()
  const waiting = pendingStatus({ reason: 'unschedulable', message: '0 of 3 nodes fit' })
  expect(await run.run(typed(terminal), platform([waiting, endedStatus(0)]))).toBe(0)
  expect(terminal.printed.err).toContain('migrate: pending (unschedulable): 0 of 3 nodes fit\n')
})

test('reports a failed attempt between lines of the log', async () => {
  const terminal = scriptTerminal()
  const between = aJobStatus({ phase: 'pending', reason: 'backoff', exitCode: 1, startedAt: null })
  const states = [aJobStatus(), between, between, endedStatus(0, { attempts: 2 })]
  expect(await run.run(typed(terminal), platform(states))).toBe(0)
  expect(terminal.printed.err.split('migrate: pending (backoff)\n')).toHaveLength(2)
})

test.each([
  [endedStatus(null, { reason: 'image_pull_failed' }), `job/${id} failed (image_pull_failed)`],
  [endedStatus(null, { phase: 'cancelled', reason: '' }), `job/${id} cancelled`],
])('exits with 1 if the job ended without an exit code', async (status, text) => {
  const terminal = scriptTerminal()
  expect(await run.run(typed(terminal), platform([status]))).toBe(1)
  expect(terminal.printed.err).toContain(text)
})

test('prints the id and does not wait with --detach', async () => {
  const terminal = scriptTerminal()
  expect(await run.run(typed(terminal, { detach: true }), platform([]))).toBe(0)
  expect(terminal.printed.out).toBe(`job/${id} created\n`)
})

test('prints only the job to stdout with -o json', async () => {
  const terminal = scriptTerminal()
  expect(await run.run(typed(terminal, { output: 'json' }), platform([endedStatus(0)]))).toBe(0)
  expect(JSON.parse(terminal.printed.out)).toMatchObject({ id, status: { phase: 'succeeded' } })
  expect(terminal.printed.err).toContain('one row\n')
})

test('cancels the job at Ctrl-C, waits for its end and exits with 130', async () => {
  const interrupted = new AbortController()
  const terminal = { ...scriptTerminal(), interrupted: interrupted.signal }
  let cancels = 0
  const states = [aJobStatus(), aJobStatus(), endedStatus(null, { phase: 'cancelled' })]
  const client = platform(states, () => {
    cancels += 1
  })
  const ended = run.run(typed(terminal), client)
  interrupted.abort()
  expect(await ended).toBe(130)
  expect(cancels).toBe(1)
  expect(terminal.printed.err).toContain(`job/${id} cancelled\n`)
})

test('stops waiting after --wait-timeout and leaves the job alone', async () => {
  const terminal = scriptTerminal()
  let nowMs = 0
  const clocked = {
    ...terminal,
    now() {
      nowMs += 1000
      return nowMs
    },
  }
  expect(await run.run(typed(clocked, { 'wait-timeout': '1s' }), platform([pendingStatus()]))).toBe(4)
  expect(terminal.printed.err).toContain(`holdfast job logs ${id} -f follows it`)
})

test('sends nothing for a wrong option', async () => {
  const terminal = scriptTerminal()
  expect(await run.run(typed(terminal, { env: 'x' }), scriptClient({}))).toBe(2)
})
