// Many jobs run while agents, engines and servers are killed. Each ends in exactly one final state with the attempts that
// it may have, the engines' own events show that no two containers of one job ever ran at once, and all logs can be read.

import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { type EngineEvents, ranTwice, recordEngineEvents } from '@holdfast/testkit/scenarios/engine-events'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** In CI two of each kind. */
const JOBS = inRun(10, 500)
/** Jobs that are created and not ended at one time. */
const AT_ONCE = inRun(10, 30)
/** Shorter than the limit of the test, so that a job that does not end is named with its status. */
const ENDED_MS = inRun(90_000, 600_000)
const COLLECTION = '/api/v1/jobs'
const NODES = ['acme-1', 'acme-2']
const FINAL = ['succeeded', 'failed', 'cancelled']
const FINAL_EVENTS = FINAL.map((phase) => `job.${phase}`)

let cluster: LabPlatform
let events: EngineEvents

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    settings: { quotas: { jobs_running: 1_000, containers: 2_000 } },
  })
  events = recordEngineEvents(NODES.map((name) => cluster.node(name)))
})
afterAll(async () => {
  events?.stop()
  await cluster?.stop()
})

const api = () => cluster.api('acme')

interface Kind {
  readonly script: string
  readonly spec: object
  /** Whether the test cancels the job once its container runs. */
  readonly cancels?: boolean
  readonly phase: string
  readonly exitCode?: number
  /** The attempts of a job that ends as its script says. */
  readonly attempts?: number
  /** Whether the last line of the script is in the log. */
  readonly isWhole: boolean
}

const KINDS: readonly Kind[] = [
  { script: 'sleep 1; echo end', spec: { retries: 3 }, phase: 'succeeded', exitCode: 0, isWhole: true },
  { script: 'sleep 4; echo end', spec: { retries: 3 }, phase: 'succeeded', exitCode: 0, isWhole: true },
  {
    ...{ script: 'sleep 1; echo end; exit 3', spec: { retries: 2 }, phase: 'failed' },
    ...{ exitCode: 3, attempts: 3, isWhole: true },
  },
  { script: 'sleep 600; echo end', spec: { timeout: '3s' }, phase: 'failed', attempts: 1, isWhole: false },
  { script: 'sleep 600; echo end', spec: { retries: 3 }, cancels: true, phase: 'cancelled', isWhole: false },
]
const kindOf = (number: number): Kind => KINDS[number % KINDS.length] ?? missing(number)

function missing(number: number): never {
  throw new Error(`job ${number} has no kind`)
}

interface JobStatus {
  readonly phase: string
  readonly reason: string
  readonly exitCode: number | null
  readonly attempts: number
  readonly startedAt: string | null
}

/** The status of a job; undefined while no server answers. */
async function statusOf(id: string): Promise<JobStatus | undefined> {
  const answer = await api()
    .get(`${COLLECTION}/${id}`)
    .catch(() => undefined)
  return answer?.status === 200 ? Object(answer.body['status']) : undefined
}

/** Creates a job. The key makes the request safe to repeat, because a server may be killed before it answers. */
async function create(number: number): Promise<string> {
  const { script, spec } = kindOf(number)
  const command = ['sh', '-c', `echo begin ${number}; ${script}`]
  const body = {
    kind: 'Job',
    name: `job-${number}`,
    image: cluster.image,
    command,
    stopGracePeriod: '1s',
    ...spec,
  }
  let id = ''
  await waitUntil(
    async () => {
      const answer = await api()
        .post(COLLECTION, body, { 'idempotency-key': `job-${number}` })
        .catch(() => undefined)
      if (answer !== undefined && answer.status < 500) expect(answer.status, answer.text).toBe(201)
      id = answer?.status === 201 ? Object(answer.body['job']).id : ''
      return id !== ''
    },
    { what: `job ${number} is created`, timeoutMs: 60_000 },
  )
  return id
}

async function runOne(number: number): Promise<string> {
  const id = await create(number)
  const { cancels = false } = kindOf(number)
  let last: JobStatus | undefined
  if (cancels) {
    await waitUntil(
      async () => {
        last = await statusOf(id)
        return last !== undefined && (last.startedAt !== null || FINAL.includes(last.phase))
      },
      { what: `job ${number} has started`, timeoutMs: ENDED_MS, seen: () => JSON.stringify(last) },
    )
    await waitUntil(
      async () => {
        const answer = await api()
          .delete(`${COLLECTION}/${id}`)
          .catch(() => undefined)
        return answer?.status === 202
      },
      { what: `job ${number} is being cancelled`, timeoutMs: 60_000 },
    )
  }
  await waitUntil(
    async () => {
      last = await statusOf(id)
      return last !== undefined && FINAL.includes(last.phase)
    },
    { what: `job ${number} has ended`, timeoutMs: ENDED_MS },
  ).catch((error: Error) => {
    throw new Error(`${error.message} Last status: ${JSON.stringify(last)}`)
  })
  return id
}

interface Outage {
  readonly node: string
  readonly fromMs: number
  readonly toMs: number
}
/** When engines were away. A container can lose the lines that it prints then, because its engine reads them. */
const outages: Outage[] = []

async function killEngine(name: string): Promise<void> {
  const fromMs = Date.now()
  await cluster.lab.killEngine(cluster.node(name))
  await cluster.lab.restartEngine(cluster.node(name))
  outages.push({ node: name, fromMs, toMs: Date.now() })
}

/** Kills something every few seconds until the jobs have ended. Returns how often. */
async function killUntil(ended: AbortSignal): Promise<number> {
  const { lab } = cluster
  const faults = [
    () => lab.restartAgent(cluster.node('acme-1')),
    () => killEngine('acme-2'),
    () => cluster.replaceGateway(),
    () => lab.restartAgent(cluster.node('acme-2')),
    () => killEngine('acme-1'),
    () => cluster.restartServers({}),
  ]
  let kills = 0
  while (!ended.aborted) {
    await faults[kills % faults.length]?.()
    kills += 1
    // The cluster has to make progress between two faults, so this waits for a job to change.
    const before = await phases()
    await waitUntil(async () => ended.aborted || (await phases()) !== before, {
      what: 'a job has changed since the last fault',
      timeoutMs: ENDED_MS,
    })
  }
  return kills
}

async function phases(): Promise<string> {
  const answer = await api()
    .get(`${COLLECTION}?limit=500`)
    .catch(() => undefined)
  const items = Object.values(Object(answer?.body['items'] ?? [])).map(Object)
  return items.map(({ id, revision }) => `${id} ${revision}`).join('\n')
}

/** Runs the jobs, some at a time. Returns their ids by number. */
async function runAll(): Promise<string[]> {
  const ids: string[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < JOBS) {
      const number = next
      next += 1
      ids[number] = await runOne(number)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return ids
}

/**
 * The exit code that an engine reports if it does not know the real one: mostly of a container that ended while the engine
 * was away, and now and then of others on a starved machine.
 */
const UNKNOWN_EXIT = 255
/** An engine that is killed while it creates a container may forget it, so that its end is never seen. */
const LOST_EXIT = null
/** The jobs with an unknown exit code although their engine was never away. */
const unexplained: string[] = []

async function checkEnd(number: number, id: string): Promise<void> {
  const kind = kindOf(number)
  const status = await statusOf(id)
  const listed = await api().get(`/api/v1/events?subject=${id}&limit=500`)
  const recorded = Object.values(Object(listed.body['items'])).map(Object)
  const ofEngines = events.all().filter(({ owner }) => owner === `job/${id}`)
  const about = [
    `job ${number}: ${JSON.stringify(status)}`,
    `events: ${JSON.stringify(recorded)}`,
    `of engines: ${JSON.stringify(ofEngines)}`,
    `outages: ${JSON.stringify(outages)}`,
  ].join('; ')
  expect(status?.phase, about).toBe(kind.phase)
  if (kind.exitCode !== undefined)
    expect([kind.exitCode, UNKNOWN_EXIT, LOST_EXIT], about).toContain(status?.exitCode)
  const isKnown = kind.exitCode === undefined || status?.exitCode === kind.exitCode
  if (!isKnown && !isDisturbed(id, status)) unexplained.push(about)
  if (kind.attempts !== undefined) expect(status?.attempts, about).toBe(kind.attempts)
  expect(status?.attempts ?? 0, about).toBeLessThanOrEqual(Number(Object(kind.spec).retries ?? 0) + 1)
  const types = recorded.map(({ type }) => String(type))
  expect(
    types.filter((type) => FINAL_EVENTS.includes(type)),
    about,
  ).toEqual([`job.${kind.phase}`])
}

/**
 * Whether the engine of the job's node was away while its last container ran. An engine that is killed at the start of a
 * container never reports that start.
 */
function isDisturbed(id: string, status: JobStatus | undefined): boolean {
  const ofJob = events.all().filter(({ owner }) => owner === `job/${id}`)
  const starts = ofJob.filter(({ action }) => action === 'start')
  const start = starts.at(-1)
  if (start === undefined || starts.length < (status?.attempts ?? 0)) return true
  const end = ofJob.find(({ action, containerId }) => action === 'die' && containerId === start.containerId)
  const [startMs, endMs] = [start.timeNano / 1e6, (end?.timeNano ?? Number.POSITIVE_INFINITY) / 1e6]
  return outages.some(({ node, fromMs, toMs }) => node === start.node && fromMs <= endMs && toMs >= startMs)
}

/** Every log can be read, and is complete unless the engine was away. */
async function checkLog(number: number, id: string): Promise<boolean> {
  let text = ''
  await waitUntil(
    async () => {
      const answer = await api().get(`${COLLECTION}/${id}/logs?tail=100`)
      expect(answer.status, answer.text).toBe(200)
      text = answer.text
      return !text.includes('"unavailable"')
    },
    { what: `the node of job ${number} is connected again`, timeoutMs: 60_000 },
  )
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).text)
  if (isDisturbed(id, await statusOf(id))) return false
  const about = `the log of job ${number}: ${text}`
  expect(lines[0], about).toBe(`begin ${number}`)
  expect(lines.includes('end'), about).toBe(kindOf(number).isWhole)
  return true
}

const NAME = `${JOBS} jobs end exactly once while agents, engines and servers are killed`

test(NAME, { timeout: inRun(300_000, 3_600_000) }, async () => {
  const ended = new AbortController()
  const killing = killUntil(ended.signal)
  const ids = await runAll().finally(() => ended.abort())
  const kills = await killing
  expect(new Set(ids).size).toBe(JOBS)
  for (const [number, id] of ids.entries()) await checkEnd(number, id)
  let whole = 0
  for (const [number, id] of ids.entries()) if (await checkLog(number, id)) whole += 1
  const seen = events.all().filter(({ owner }) => owner.startsWith('job/'))
  const starts = seen.filter(({ action }) => action === 'start')
  console.log(
    `${JOBS} jobs, ${kills} kills, ${starts.length} starts by the engines' events; all logs read, ${whole} compared`,
  )
  expect(whole).toBeGreaterThan(JOBS / 4)
  if (unexplained.length > 0) console.log('exit codes that the engine lost:', unexplained)
  expect(unexplained.length).toBeLessThanOrEqual(JOBS / 100)
  // An engine that is killed at the start of a container never reports that start.
  expect(new Set(starts.map(({ owner }) => owner)).size).toBeGreaterThan(JOBS * 0.8)
  expect(ranTwice(seen, () => true)).toEqual([])
  expect(kills).toBeGreaterThan(0)
})
