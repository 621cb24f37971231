// Commands of jobs against scripted API responses.

import { asJobId, type JobRecord } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aJob, aJobStatus, endedStatus, logText, pendingStatus } from '../../jobs/job.fixture.ts'
import {
  anEvent,
  invocation,
  scriptClient,
  scriptTerminal,
} from '../../terminal/scripted-terminal.fixture.ts'
import { describe as describeCommand } from '../describe.ts'
import { jobCancel } from './job-cancel.ts'
import { jobDescribe } from './job-describe.ts'
import { jobList } from './job-list.ts'
import { jobLogs } from './job-logs.ts'

const { id } = aJob()
const OLDER = asJobId('job_01JD7QAF7T1B3V9W5Y8Z2A4C5A')
const LOG = logText(['stdout', 'one row'], ['stderr', 'a notice'])

const clientWith = (jobs: readonly JobRecord[], answers: { readonly [call: string]: unknown } = {}) =>
  scriptClient({
    'GET /jobs?limit=500': { items: jobs, nextCursor: null },
    ...Object.fromEntries(jobs.map((job) => [`GET /jobs/${job.id}`, job])),
    ...Object.fromEntries(
      jobs.map((job) => [`GET /events?subject=${job.id}&limit=10`, { items: [], nextCursor: 'x' }]),
    ),
    ...answers,
  })

test('job list prints a table, the newest job first', async () => {
  const terminal = scriptTerminal()
  const jobs = [aJob(endedStatus(3), { id: OLDER, retries: 2 }), aJob()]
  expect(await jobList.run(invocation(terminal, []), clientWith(jobs))).toBe(0)
  expect(terminal.printed.out).toMatch(/^ID +NAME +PHASE +EXIT +NODE +ATTEMPTS +TOOK +AGE +REASON/m)
  const [, newest, oldest] = terminal.printed.out.split('\n')
  expect(newest).toMatch(/^job_\w+6D +migrate +running +- +n1 +1 of 1 +1m +2m/)
  expect(oldest).toMatch(/^job_\w+5A +migrate +failed +3 +n1 +1 of 3 +42s +2m +exited/)
})

test('job describe shows the newest job with a name and how it ended', async () => {
  const terminal = scriptTerminal()
  const jobs = [aJob(aJobStatus(), { id: OLDER }), aJob(endedStatus(3))]
  expect(await jobDescribe.run(invocation(terminal, ['migrate']), clientWith(jobs))).toBe(0)
  const { out } = terminal.printed
  expect(out).toMatch(/^Phase: +failed \(exited\)$/m)
  expect(out).toMatch(/^Exit code: +3$/m)
  expect(out).toMatch(/^Took: +42s$/m)
  expect(out).toMatch(/^Command: +\.\/migrate --all$/m)
  expect(out).toMatch(new RegExp(`^Id: +${id}$`, 'm'))
})

test('job describe shows how long ago each event was', async () => {
  const terminal = scriptTerminal()
  const subject = { kind: 'Job', name: 'migrate', uid: id }
  const event = anEvent({ type: 'job.succeeded', message: 'Job migrate succeeded.', subject })
  const client = clientWith([aJob(endedStatus(0))], {
    [`GET /events?subject=${id}&limit=10`]: { items: [event], nextCursor: 'x' },
  })
  expect(await jobDescribe.run(invocation(terminal, ['migrate']), client)).toBe(0)
  expect(terminal.printed.out).toMatch(/^Events:\n {2}2m ago +job\.succeeded +Job migrate succeeded\.$/m)
})

test('describe job explains why a job waits', async () => {
  const terminal = scriptTerminal()
  const waiting = aJob(pendingStatus({ reason: 'unschedulable', message: '0 of 3 nodes fit' }))
  const refusal = {
    filter: 'cordon',
    code: 'node_cordoned',
    fix: 'Uncordon n1.',
    required: 'schedulable',
    reported: 'cordoned',
  }
  const client = clientWith([waiting], {
    [`GET /jobs/${id}/why`]: {
      decidedAt: null,
      phase: 'pending',
      summary: '0 of 1 nodes fit: 1 cordoned.',
      cure: ['Uncordon n1.'],
      candidates: [{ nodeId: 'node_1', nodeName: 'n1', refusals: [refusal] }],
    },
  })
  expect(await describeCommand.run(invocation(terminal, ['job', id]), client)).toBe(0)
  expect(terminal.printed.out).toMatch(/^Nodes:\n.*n1/ms)
  expect(terminal.printed.out).toMatch(/^Phase: +pending \(unschedulable\)$/m)
  expect(terminal.printed.out).toMatch(/^Message: +0 of 3 nodes fit$/m)
  expect(terminal.printed.out).not.toContain('Exit code')
})

test.each([
  ['was seen running', endedStatus(0)],
  ['ended before it was seen running', endedStatus(0, { startedAt: null })],
])('job logs prints the log of a container that %s', async (_, status) => {
  const terminal = scriptTerminal()
  const client = clientWith([aJob(status)], { [`GET /jobs/${id}/logs?tail=10000`]: LOG })
  expect(await jobLogs.run(invocation(terminal, [`job/${id}`], { follow: true }), client)).toBe(0)
  expect(terminal.printed.out).toBe('one row\na notice\n')
})

test('job logs says that no container has started', async () => {
  const terminal = scriptTerminal()
  expect(await jobLogs.run(invocation(terminal, ['migrate']), clientWith([aJob(pendingStatus())]))).toBe(0)
  expect(terminal.printed.err).toContain(`no container of job/${id} has started`)
})

test('job cancel cancels the only job with a name that has not ended', async () => {
  const terminal = scriptTerminal()
  const jobs = [aJob(aJobStatus()), aJob(endedStatus(0), { id: OLDER })]
  const client = clientWith(jobs, { [`DELETE /jobs/${id}`]: aJob() })
  expect(await jobCancel.run(invocation(terminal, ['migrate']), client)).toBe(0)
  expect(terminal.printed.out).toBe(`job/${id} cancelling\n`)
})

test('job cancel cancels none of several jobs with one name', async () => {
  const terminal = scriptTerminal()
  const client = clientWith([aJob(aJobStatus()), aJob(aJobStatus(), { id: OLDER })])
  expect(await jobCancel.run(invocation(terminal, ['migrate']), client)).toBe(6)
  expect(terminal.printed.err).toContain(`${id}, ${OLDER}`)
})

test('job cancel says how a job has ended', async () => {
  const terminal = scriptTerminal()
  expect(await jobCancel.run(invocation(terminal, [id]), clientWith([aJob(endedStatus(0))]))).toBe(6)
  expect(terminal.printed.err).toContain('it succeeded')
})

test('job cancel --wait waits until the container has stopped', async () => {
  const terminal = scriptTerminal()
  const states = [aJob(), aJob(), aJob(endedStatus(null, { phase: 'cancelled', reason: '' }))]
  const client = scriptClient({
    [`DELETE /jobs/${id}`]: aJob(),
    get [`GET /jobs/${id}`]() {
      return states.length > 1 ? states.shift() : states[0]
    },
  })
  expect(await jobCancel.run(invocation(terminal, [id], { wait: true }), client)).toBe(0)
  expect(terminal.printed.out).toBe(`job/${id} cancelling\njob/${id} cancelled\n`)
})
