// Tests which attempts a log of a job has, with a node that answers from memory.

import { asAssignmentId, asTokenId, type LogLine, ownerOf, STREAM_CHANNELS } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  nodeId,
  openOver,
  putTenant,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import type { OpenNodeStream } from '../../ports/node-streams.ts'
import { aJob, someTenant } from '../../store/records.fixture.ts'
import { jobs, observations, type StoredJob, tokens } from '../../store/records.ts'
import { globally, inTenant, placementAt } from '../../store/transaction.ts'
import { readJobLogs } from './read-job-logs.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const TOKEN = asTokenId('tok_01JCPZ0000000000000000000A')
const [FIRST, SECOND] = [asAssignmentId('rep_1'), asAssignmentId('rep_2')]
const JOB = aJob({ retries: 1 }, { nodeId, nodeName: 'n1', attempts: 1, last: FIRST })
const OWNER = ownerOf('job', JOB.id)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The lines on a node: of containers that exist, and those that it keeps, by assignment. */
interface OnNode {
  readonly containers: Map<string, string>
  readonly kept: Map<string, string>
  /** Whether a followed stream never ends, as that from a lost node. */
  readonly isLost?: boolean
  /** Why a container without lines cannot be read; by default it is not there. */
  readonly absence?: 'container_not_found' | 'container_not_running'
}

const streamOf =
  ({ containers, kept, isLost = false, absence = 'container_not_found' }: OnNode): OpenNodeStream =>
  (_tenant, _node, { assignmentId = '', previous = false, since = '', follow = false }, reader) => {
    const line = (previous ? kept : containers).get(assignmentId)
    queueMicrotask(() => {
      if (line !== undefined && line.slice(0, line.indexOf(' ')) > since)
        reader.data(STREAM_CHANNELS.stdout, Buffer.from(`${line}\n`))
      if (isLost && follow) return
      reader.end(line === undefined && !previous ? { error: absence } : {})
    })
    return { credit() {}, room: 0, send() {}, close() {} }
  }

async function platform(job: StoredJob, node: OnNode) {
  const store = await openOver(createMemoryKeyspace())
  ends.push(() => store.close())
  const tenant = someTenant()
  const put = (record: StoredJob, placed: typeof FIRST | undefined) =>
    write(store, (transaction) => {
      transaction.put(inTenant(tenant, jobs, record.id), record)
      if (placed === undefined) return
      transaction.put(placementAt(tenant, OWNER), {
        ...{ v: 1, owner: OWNER, name: 'migrate', revision: 1, everAssigned: true, templates: {} },
        ...{ reportedRefusals: '', reportedPhase: '', resources: record.spec.resources },
        assignments: [
          {
            ...{ id: placed, replica: record.attempts, nodeId, revision: 1, templateHash: 'h' },
            ...{ desired: 'running', assignedAt: TIME },
          },
        ],
      })
      transaction.put(inTenant(tenant, observations, placed), {
        ...{ v: 1, assignmentId: placed, owner: OWNER, nodeId, at: TIME, generation: 1, seq: 1 },
        ...{ state: 'ready', containerId: 'c', startedAt: TIME, exitCode: null, restarts: 0, reason: '' },
        gone: false,
      })
    })
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'developer', expiresAt: '', createdAt: '' },
      ...{ tenant, secretHash: '' },
    })
  })
  await put(job, node.containers.size > 0 || job.phase === 'succeeded' ? job.last : undefined)
  const caller = { tenant, token: TOKEN, role: 'developer', onBehalf: false, requestId: 'r' } as const
  const read = async (follow: boolean): Promise<AsyncGenerator<LogLine>> => {
    const deps = { store, clock, openStream: streamOf(node), readings: { note: () => {} }, silenceMs: 100 }
    const found = await readJobLogs(deps, caller, job.id, { follow, tail: 100 })
    if (!found.ok) throw new Error(JSON.stringify(found))
    return found.value(new AbortController().signal)
  }
  return { put, read }
}

const textOf = (line: LogLine): string => ('text' in line ? line.text : JSON.stringify(line))

async function textsOf(lines: AsyncIterable<LogLine>): Promise<string[]> {
  const texts: string[] = []
  for await (const line of lines) texts.push(textOf(line))
  return texts
}

const lineAt = (second: number, text: string): string => `2026-01-01T00:00:0${second}.000000000Z ${text}`

test('a followed log has the output of an attempt whose container is gone, and of the next one', async () => {
  const node: OnNode = { containers: new Map(), kept: new Map([[FIRST, lineAt(1, 'first')]]) }
  const { put, read } = await platform({ ...JOB, failures: 1, reason: 'backoff' }, node)
  const lines = await read(true)
  expect(textOf((await lines.next()).value ?? { skipped: { replica: 0, lines: 0, bytes: 0 } })).toBe('first')
  node.containers.set(SECOND, lineAt(3, 'second'))
  const second: StoredJob = { ...JOB, attempts: 2, last: SECOND, current: SECOND, phase: 'running' }
  await put(second, SECOND)
  const { current: _, ...ended } = second
  await put({ ...ended, phase: 'succeeded' }, undefined)
  expect(await textsOf(lines)).toEqual(['second'])
})

test('a followed log has the output of an attempt that starts and ends while another one is read', async () => {
  const node: OnNode = {
    containers: new Map([[FIRST, lineAt(1, 'first')]]),
    kept: new Map([[SECOND, lineAt(3, 'second')]]),
  }
  const { put, read } = await platform({ ...JOB, current: FIRST, phase: 'running' }, node)
  const lines = await read(true)
  await lines.next()
  const third = asAssignmentId('rep_3')
  await put({ ...JOB, attempts: 2, last: SECOND, current: SECOND, phase: 'running' }, undefined)
  await put({ ...JOB, attempts: 3, last: third, phase: 'failed' }, undefined)
  expect(await textsOf(lines)).toEqual(['second'])
})

test('a stream that never ends does not keep the next attempt from being followed', async () => {
  const node: OnNode = {
    containers: new Map([[FIRST, lineAt(1, 'first')]]),
    kept: new Map([[SECOND, lineAt(3, 'second')]]),
    isLost: true,
  }
  const { put, read } = await platform({ ...JOB, current: FIRST, phase: 'running' }, node)
  const lines = await read(true)
  await lines.next()
  await put({ ...JOB, attempts: 2, last: SECOND, phase: 'failed' }, undefined)
  expect(await textsOf(lines)).toEqual(['second'])
})

test.each([
  { follow: true, absence: 'container_not_found' },
  { follow: false, absence: 'container_not_found' },
  { follow: true, absence: 'container_not_running' },
  { follow: false, absence: 'container_not_running' },
] as const)(
  'a container that is removed before its log is opened leaves the kept log and no gap: $follow, $absence',
  async ({ follow, absence }) => {
    const node: OnNode = { containers: new Map(), kept: new Map([[FIRST, lineAt(1, 'first')]]), absence }
    const { read } = await platform({ ...JOB, phase: 'succeeded' }, node)
    expect(await textsOf(await read(follow))).toEqual(['first'])
  },
)
