// Jobs in manifests: `apply`, its dry run, and `delete`, against scripted API responses.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { apply } from '../commands/apply.ts'
import { remove } from '../commands/delete.ts'
import { diff } from '../commands/diff.ts'
import { invocation, scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { aJob, endedStatus, pendingStatus, written } from './job.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-jobs-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(text: string): string {
  const file = join(folder, 'jobs.yaml')
  writeFileSync(file, text)
  return file
}

const DOCUMENT = 'kind: Job\nname: migrate\nimage: registry.example.com/shop/web:1.4.2\n'
const { id } = aJob()
const NO_EFFECTS = {
  moves: [],
  restarts: [],
  stops: [],
  unplaced: [],
  unrouted: [],
  lostData: [],
  lowestReady: [],
  omitted: [],
}
const PLACEMENT = { placed: ['n1'], unplaced: 0, summary: '', candidates: [], cure: [] }
const START = {
  ...{ deployment: 'migrate', kind: 'start', replicas: [], lowestReady: 0 },
  text: 'Run job migrate on node n1.',
}
/** The entry of an accepted job in the dry run of several documents. */
const PLANNED = {
  ...{ kind: 'Job', name: 'migrate', action: 'create', alterations: [], warnings: [] },
  plan: {
    ...{ action: 'create', revision: 1, changes: [], placement: PLACEMENT },
    ...{ steps: [START], effects: NO_EFFECTS },
  },
}

test('apply creates a job at each call and does not look for one with the same name', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({ 'POST /jobs': written(aJob(pendingStatus())) })
  const typed = invocation(terminal, [], { filename: fileWith(DOCUMENT) })
  expect([await apply.run(typed, client), await apply.run(typed, client)]).toEqual([0, 0])
  expect(terminal.printed.out).toBe(`job/${id} (migrate) created\n`.repeat(2))
})

test.each([
  [0, 0, 'succeeded'],
  [3, 4, 'failed with exit code 3'],
])('apply --wait of a job that ends with %i exits with %i', async (exitCode, expected, text) => {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'POST /jobs': written(aJob(pendingStatus())),
    [`GET /jobs/${id}`]: aJob(endedStatus(exitCode)),
  })
  const typed = invocation(terminal, [], { filename: fileWith(DOCUMENT), wait: true })
  expect(await apply.run(typed, client)).toBe(expected)
  expect(terminal.printed.out).toContain(`job/${id} ${text}\n`)
})

test('apply accepts two jobs with one name, and judges both before it creates one', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'POST /dry-run': { items: [PLANNED, PLANNED] },
    'POST /jobs': written(aJob(pendingStatus())),
  })
  const typed = invocation(terminal, [], {
    filename: fileWith(`${DOCUMENT}---\n${DOCUMENT}`),
    output: 'name',
  })
  expect(await apply.run(typed, client)).toBe(0)
  expect(terminal.printed.out).toBe(`job/${id}\njob/${id}\n`)
})

test('apply replaces the name of a node by its id and points at an unknown one', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({ 'GET /nodes?limit=500': { items: [], nextCursor: null } })
  const typed = invocation(terminal, [], { filename: fileWith(`${DOCUMENT}node: n9\n`) })
  expect(await apply.run(typed, client)).not.toBe(0)
  expect(terminal.printed.err).toContain('job_node_not_found at node')
  expect(terminal.printed.err).toContain('jobs.yaml:4')
})

test('diff shows the job that would be created', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({ 'POST /dry-run': { items: [PLANNED] } })
  await diff.run(invocation(terminal, [], { filename: fileWith(DOCUMENT) }), client)
  expect(terminal.printed.out).toContain('job/migrate would be created\n')
  expect(terminal.printed.out).toContain('+ name: migrate\n')
})

test('apply --dry-run shows the start of a job and creates nothing', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({ 'POST /dry-run': { items: [PLANNED] } })
  const typed = invocation(terminal, [], { filename: fileWith(DOCUMENT), 'dry-run': true })
  expect(await apply.run(typed, client)).toBe(0)
  expect(terminal.printed.out).toContain('job/migrate would be created\n')
  expect(terminal.printed.out).toContain('Run job migrate on node n1.')
})

test('apply creates none of several jobs if the platform rejects one of them', async () => {
  const terminal = scriptTerminal()
  const rejection = {
    ...{ code: 'quota_exceeded', field: 'jobs_running', received: '2', expected: 'at most 1' },
    ...{ why: 'The quota is used up.', doc: 'https://x' },
  }
  const rejected = { kind: 'Job', name: 'migrate', rejections: [rejection] }
  const client = scriptClient({ 'POST /dry-run': { items: [PLANNED, rejected] } })
  const typed = invocation(terminal, [], { filename: fileWith(`${DOCUMENT}---\n${DOCUMENT}`) })
  expect(await apply.run(typed, client)).not.toBe(0)
  expect(terminal.printed.err).toContain('1 of 2 documents was rejected')
})

test('delete skips jobs of manifests and refuses jobs that are named', async () => {
  const terminal = scriptTerminal()
  expect(await remove.run(invocation(terminal, [], { filename: fileWith(DOCUMENT) }), scriptClient({}))).toBe(
    0,
  )
  expect(terminal.printed.err).toContain('job/migrate skipped')
  for (const args of [['job', 'migrate'], ['job/migrate']])
    expect(await remove.run(invocation(terminal, args), scriptClient({}))).toBe(2)
  expect(terminal.printed.err).toContain('holdfast job cancel ID stops it')
})
