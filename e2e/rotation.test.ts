// A password is rotated while deployments log in with it 20 times a second, and no login fails. A real Redis whose user
// accepts two passwords goes through every phase, with the servers killed after each step, and with an abort from each phase,
// on both supported engine versions.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sharedSecretsStore, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import { isInTurn } from '@holdfast/testkit/rotation'
import {
  APP_PATH,
  CONSUMERS,
  type RedisWorld,
  startRedisWorld,
} from '@holdfast/testkit/scenarios/redis-world'
import {
  allProved,
  onlyCredential,
  rotate,
  rotationOf,
  untilRotation,
} from '@holdfast/testkit/scenarios/rotate'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/scenarios/server-process'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

const ROUNDS = LONG ? 3 : 1
/** The consumers restart about six times in sequence, which takes a minute on two idle cores. */
const PATIENCE = { timeout: LONG ? 3_600_000 : 600_000 }
/** Approximate duration of one step of a rotation. */
const STEP_MS = 40
/** Roles of the servers that answer requests. The long run adds controllers, so that a kill may change the leader. */
const ANSWERING = ['api', 'broker', ...(LONG ? ['controllers'] : [])]

let cluster: LabPlatform
let world: RedisWorld
/** Servers that answer requests. The first one gets all requests; after it is killed, the order is reversed. */
const answering: ServerProcess[] = []
let leading: ServerProcess
let began = 0
/** Number of logins with a wrong password that a test sent on purpose. */
let wrong = 0

beforeAll(async () => {
  // Controllers, API and broker run in processes that can be killed; only the gateway runs in the test process.
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    roles: ['api', 'gateway'],
  })
  const start = (roles: readonly string[]) => startServerProcess(cluster.platform, roles)
  const [leader, ...others] = await Promise.all([start(['controllers']), start(ANSWERING), start(ANSWERING)])
  leading = leader
  answering.push(...others)
  world = await startRedisWorld(cluster)
  began = performance.now()
})
afterAll(async () => {
  await cluster?.stop()
  await Promise.all([leading, ...answering].map((server) => server?.remove()))
})

/** Number of logins at the end of the previous test, over all containers that ever ran. */
let before = 0
afterEach(async ({ task }) => {
  const { logins, containers, missed, refused } = await world.tally()
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(
    `${task.name}: so far ${logins} logins of ${containers} containers in ${seconds} s, ${missed} missed, ${refused} refused`,
  )
  expect([missed, refused]).toEqual([0, wrong])
  expect(logins).toBeGreaterThan(before)
  before = logins
})

const api = () => cluster.api('acme')

function nextServer() {
  const [first] = answering
  if (first === undefined) throw new Error('no server was started')
  return { server: first, api: first.api(cluster.platform.acme.token) }
}

/** A function that requests one phase of a rotation. The implementations differ in when they kill a server. */
type Step = (phase: string) => Promise<void>

const step: Step = async (phase) => {
  const { status, body, text } = await rotate(nextServer().api, phase)
  expect(status, text).toBe(200)
  if (phase !== 'abort') expect(onlyCredential(body).next).toEqual(NEXT[phase])
}

const NEXT: { readonly [phase: string]: readonly string[] } = {
  stage: ['overlap', 'abort'],
  overlap: ['cutover', 'abort'],
  cutover: ['retire', 'abort'],
  retire: ['stage'],
}

/** Requests a rotation phase, then kills and restarts the server that answered and, for a cutover, the leader. */
const stepAndKill: Step = async (phase) => {
  await step(phase)
  const dead = phase === 'cutover' ? [nextServer().server, leading] : [nextServer().server]
  await Promise.all(dead.map((each) => each.kill()))
  answering.reverse()
  await Promise.all(dead.map((each) => each.start()))
}

/**
 * Kills the server at a random moment of the request, and retries the request with its Idempotency-Key at the other
 * server.
 */
const stepThroughDeath: Step = async (phase) => {
  const once = { 'idempotency-key': randomUUID() }
  const dying = nextServer()
  const lost = rotate(dying.api, phase, once).catch(() => undefined)
  await pause(Math.random() * STEP_MS)
  await dying.server.kill()
  await lost
  answering.reverse()
  const { status, text } = await rotate(nextServer().api, phase, once)
  expect(status, text).toBe(200)
  await dying.server.start()
}

async function isRefused(phase: string): Promise<void> {
  const { status, codes, text } = await rotate(api(), phase)
  expect([status, codes], text).toEqual([409, ['rotation_transition_invalid']])
}

/** Checks that Redis accepts this number of passwords on both machines. */
const acceptsPasswords = async (count: number) =>
  expect((await world.tally()).passwords).toEqual([count, count])

/** Versions of the password that the secrets store still contains, read from the store itself. */
async function heldVersions(): Promise<number[]> {
  const eye = createStoreEye({ ...(await sharedSecretsStore()), tenant: cluster.platform.acme.id })
  return eye.liveVersions(APP_PATH)
}

type Versions = { readonly [deployment: string]: number }
const raised = (from: Versions, names: readonly string[], by: number): Versions =>
  Object.fromEntries(
    Object.entries(from).map(([name, version]) => [name, names.includes(name) ? version + by : version]),
  )

async function rotateFully(step: Step): Promise<void> {
  const first = await world.secretsVersions()
  const idle = await rotationOf(api())
  expect(idle).toMatchObject({ phase: 'idle', next: ['stage'], versions: { old: null, new: null } })
  expect(idle.consumers.map(({ deployment }) => deployment).sort()).toEqual(CONSUMERS)
  await isRefused('overlap')

  await step('stage')
  const { versions } = await rotationOf(api())
  expect(versions.new).toBeGreaterThan(Number(versions.old))
  await isRefused('cutover')
  // In the phase `stage`, a container that starts must not receive the new password, so Redis accepts only the old one.
  await world.applyPasswords()
  await acceptsPasswords(1)

  await step('overlap')
  await isRefused('retire')
  await world.applyPasswords()
  await acceptsPasswords(2)
  expect(await world.secretsVersions()).toEqual(first)

  await step('cutover')
  await isRefused('retire')
  const proved = await untilRotation(api(), 'every consumer has proved the new password', allProved)
  expect(proved.consumers.map(({ pinned }) => pinned)).toEqual(CONSUMERS.map(() => versions.new))
  expect(await world.secretsVersions()).toEqual(raised(first, CONSUMERS, 1))
  await acceptsPasswords(2)
  expect(await heldVersions()).toContain(versions.old)

  await step('retire')
  expect(await rotationOf(api())).toMatchObject({ phase: 'idle', next: ['stage'], blockedBy: [] })
  await waitUntil(async () => !(await heldVersions()).includes(Number(versions.old)), {
    what: 'the old password is destroyed',
    timeoutMs: 100_000,
  })
  // After `retire`, the recreated container sets only the new password in Redis.
  await world.applyPasswords()
  await acceptsPasswords(1)
  expect(await world.secretsVersions()).toEqual(raised(first, CONSUMERS, 1))
}

/** Aborts the rotation, and checks that it is idle at once and that the previous version is in use. */
async function abort(step: Step): Promise<void> {
  const { versions } = await rotationOf(api())
  await step('abort')
  const { phase, consumers } = await rotationOf(api())
  expect(phase).toBe('idle')
  expect(consumers.map(({ pinned }) => pinned)).toEqual(CONSUMERS.map(() => versions.old))
}

async function abortEarly(step: Step): Promise<void> {
  const first = await world.secretsVersions()
  await step('stage')
  await abort(step)
  await step('stage')
  await step('overlap')
  await world.applyPasswords()
  await acceptsPasswords(2)
  await abort(step)
  await world.applyPasswords()
  await acceptsPasswords(1)
  expect(await world.secretsVersions()).toEqual(first)
}

/**
 * Aborts a cutover once `count` consumers have the new version. The last consumer to get it is the one that sets the
 * passwords in Redis.
 */
async function abortCutover(step: Step, count: number): Promise<void> {
  const first = await world.secretsVersions()
  await step('stage')
  await step('overlap')
  await world.applyPasswords()
  await step('cutover')
  const { versions } = await untilRotation(api(), `${count} consumers have moved`, (rotation) => {
    const moved = rotation.consumers.filter(({ pinned }) => pinned === rotation.versions.new)
    return moved.length >= count && (count < CONSUMERS.length || allProved(rotation))
  })
  await step('abort')
  const { consumers } = await untilRotation(
    api(),
    'all consumers have moved back',
    ({ phase }) => phase === 'idle',
  )
  expect(consumers.map(({ pinned }) => pinned)).toEqual(CONSUMERS.map(() => versions.old))
  const last = await world.secretsVersions()
  const moved = CONSUMERS.filter((name) => last[name] !== first[name])
  expect(moved.length).toBeGreaterThanOrEqual(count)
  expect(last).toEqual(raised(first, moved, 2))
  await world.applyPasswords()
  await acceptsPasswords(1)
}

test.runIf(LONG)(
  'rotates through all phases with long-running deployments, without a failed login',
  async () => {
    await world.untilAllGood()
    await rotateFully(step)
  },
)

test(
  `rotates through all phases ${ROUNDS} times with servers killed after every step, without a failed login`,
  PATIENCE,
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) await rotateFully(stepAndKill)
  },
)

test.runIf(LONG)(
  `rotates through all phases ${ROUNDS} times with servers killed amid every step`,
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) await rotateFully(stepThroughDeath)
  },
)

test.runIf(isInTurn('rotation-aborts', 0))(
  'aborts from stage and from overlap without moving a consumer',
  PATIENCE,
  async () => {
    await abortEarly(step)
  },
)

test.runIf(isInTurn('rotation-aborts', 1))(
  'aborts from cutover after all consumers have moved',
  PATIENCE,
  async () => {
    await abortCutover(step, CONSUMERS.length)
  },
)

test.runIf(LONG)('aborts from cutover after some consumers have moved', async () => {
  await abortCutover(step, 2)
})

test.runIf(LONG)('aborts with servers killed after and amid every step', async () => {
  for (const step of [stepAndKill, stepThroughDeath]) {
    await abortEarly(step)
    await abortCutover(step, 2)
    await abortCutover(step, CONSUMERS.length)
  }
})

test('a password that Redis was never configured with stops one consumer, locks none out, and can be aborted', async () => {
  await step('stage')
  await step('overlap')
  await step('cutover')
  await waitUntil(async () => (await world.tally()).refused > 20, {
    what: 'the new container tries the new password',
    timeoutMs: 60_000,
  })
  const { consumers, versions } = await rotationOf(api())
  const moved = consumers.filter(({ pinned }) => pinned === versions.new)
  expect(moved).toMatchObject([{ deployment: 'shop', proved: false }])
  await isRefused('retire')
  await step('abort')
  await untilRotation(api(), 'all consumers have moved back', ({ phase }) => phase === 'idle')
  wrong = (await world.tally()).refused
})

test.runIf(LONG)('leaves only the password in use in the secrets store', async () => {
  const [first] = (await rotationOf(api())).consumers
  await waitUntil(async () => String(await heldVersions()) === String(first?.pinned), {
    what: 'every other version is destroyed',
    timeoutMs: 180_000,
  })
})
