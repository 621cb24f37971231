// A password is changed while three deployments log in with it 20 times a second, and none of the logins fails: a
// real Redis whose user takes two passwords, through every phase, with the servers killed after each step, and taken
// back from each phase; on the old engine and on the new.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sharedSecretsStore, waitUntil } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
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
/** Half a dozen restarts of consumers one after another: a minute on two quiet cores. */
const PATIENCE = { timeout: LONG ? 3_600_000 : 300_000 }
/** About what a step takes. */
const STEP_MS = 40
/** In the long run who answers also leads, and each death costs the time until the other has taken over. */
const ANSWERING = ['api', 'broker', ...(LONG ? ['controllers'] : [])]

let whole: LabPlatform
let world: RedisWorld
/** They take turns: the first is asked. */
const answering: ServerProcess[] = []
let leading: ServerProcess
let began = 0
/** Wrong passwords that a test sent on purpose. */
let wrong = 0

beforeAll(async () => {
  // What decides, moves consumers and hands secrets out are processes that can be killed; here are only the doors.
  whole = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    settings: { roles: ['api', 'gateway'] },
  })
  const start = (roles: readonly string[]) => startServerProcess(whole.platform, roles)
  const [leader, ...others] = await Promise.all([start(['controllers']), start(ANSWERING), start(ANSWERING)])
  leading = leader
  answering.push(...others)
  world = await startRedisWorld(whole)
  began = performance.now()
})
afterAll(async () => {
  await whole?.stop()
  await Promise.all([leading, ...answering].map((server) => server?.remove()))
})

/** Since the first login, in all containers that ever were. */
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

const api = () => whole.api('acme')

function asked() {
  const [first] = answering
  if (first === undefined) throw new Error('no server was started')
  return { server: first, api: first.api(whole.platform.acme.token) }
}

/** One step of a rotation, by whoever is asked. */
type Step = (phase: string) => Promise<void>

const step: Step = async (phase) => {
  const { status, body, text } = await rotate(asked().api, phase)
  expect(status, text).toBe(200)
  if (phase !== 'abort') expect(onlyCredential(body).next).toEqual(NEXT[phase])
}

const NEXT: { readonly [phase: string]: readonly string[] } = {
  stage: ['overlap', 'abort'],
  overlap: ['cutover', 'abort'],
  cutover: ['retire', 'abort'],
  retire: ['stage'],
}

/** Who answered dies at once, and who has to go on with a cutover dies too; the other is asked next. */
const stepAndKill: Step = async (phase) => {
  await step(phase)
  const dead = phase === 'cutover' ? [asked().server, leading] : [asked().server]
  await Promise.all(dead.map((each) => each.kill()))
  answering.reverse()
  await Promise.all(dead.map((each) => each.start()))
}

/** Who is asked dies at some moment of the step; the other is asked the same again, as a careful client would. */
const stepThroughDeath: Step = async (phase) => {
  const once = { 'idempotency-key': randomUUID() }
  const dying = asked()
  const lost = rotate(dying.api, phase, once).catch(() => undefined)
  await pause(Math.random() * STEP_MS)
  await dying.server.kill()
  await lost
  answering.reverse()
  const { status, text } = await rotate(asked().api, phase, once)
  expect(status, text).toBe(200)
  await dying.server.start()
}

async function isRefused(phase: string): Promise<void> {
  const { status, codes, text } = await rotate(api(), phase)
  expect([status, codes], text).toEqual([409, ['rotation_transition_invalid']])
}

/** Redis takes so many, on both machines. */
const takesPasswords = async (count: number) =>
  expect((await world.tally()).passwords).toEqual([count, count])

/** Versions that the secrets store still holds, by its own word. */
async function heldVersions(): Promise<number[]> {
  const eye = createStoreEye({ ...(await sharedSecretsStore()), tenant: whole.platform.acme.id })
  return eye.liveVersions(APP_PATH)
}

type Versions = { readonly [deployment: string]: number }
const raised = (from: Versions, names: readonly string[], by: number): Versions =>
  Object.fromEntries(
    Object.entries(from).map(([name, version]) => [name, names.includes(name) ? version + by : version]),
  )

async function rotateWhole(take: Step): Promise<void> {
  const first = await world.secretsVersions()
  const idle = await rotationOf(api())
  expect(idle).toMatchObject({ phase: 'idle', next: ['stage'], versions: { old: null, new: null } })
  expect(idle.consumers.map(({ deployment }) => deployment).sort()).toEqual(CONSUMERS)
  await isRefused('overlap')

  await take('stage')
  const { versions } = await rotationOf(api())
  expect(versions.new).toBeGreaterThan(Number(versions.old))
  await isRefused('cutover')
  // A container that is made now is told nothing of it.
  await world.applyPasswords()
  await takesPasswords(1)

  await take('overlap')
  await isRefused('retire')
  await world.applyPasswords()
  await takesPasswords(2)
  expect(await world.secretsVersions()).toEqual(first)

  await take('cutover')
  await isRefused('retire')
  const proved = await untilRotation(api(), 'every consumer has proved the new password', allProved)
  expect(proved.consumers.map(({ pinned }) => pinned)).toEqual(CONSUMERS.map(() => versions.new))
  expect(await world.secretsVersions()).toEqual(raised(first, CONSUMERS, 1))
  await takesPasswords(2)
  expect(await heldVersions()).toContain(versions.old)

  await take('retire')
  expect(await rotationOf(api())).toMatchObject({ phase: 'idle', next: ['stage'], blockedBy: [] })
  await waitUntil(async () => !(await heldVersions()).includes(Number(versions.old)), {
    what: 'the old password is destroyed',
    timeoutMs: 100_000,
  })
  // From here on Redis takes the new one alone.
  await world.applyPasswords()
  await takesPasswords(1)
  expect(await world.secretsVersions()).toEqual(raised(first, CONSUMERS, 1))
}

/** Idle at once, with what was used before. */
async function takeBack(take: Step): Promise<void> {
  const { versions } = await rotationOf(api())
  await take('abort')
  const { phase, consumers } = await rotationOf(api())
  expect(phase).toBe('idle')
  expect(consumers.map(({ pinned }) => pinned)).toEqual(CONSUMERS.map(() => versions.old))
}

async function takeBackEarly(take: Step): Promise<void> {
  const first = await world.secretsVersions()
  await take('stage')
  await takeBack(take)
  await take('stage')
  await take('overlap')
  await world.applyPasswords()
  await takesPasswords(2)
  await takeBack(take)
  await world.applyPasswords()
  await takesPasswords(1)
  expect(await world.secretsVersions()).toEqual(first)
}

/** Back from where so many have moved; the last of them is the one that tells Redis what to take. */
async function takeBackCutover(take: Step, count: number): Promise<void> {
  const first = await world.secretsVersions()
  await take('stage')
  await take('overlap')
  await world.applyPasswords()
  await take('cutover')
  const { versions } = await untilRotation(api(), `${count} have moved`, (rotation) => {
    const moved = rotation.consumers.filter(({ pinned }) => pinned === rotation.versions.new)
    return moved.length >= count && (count < CONSUMERS.length || allProved(rotation))
  })
  await take('abort')
  const { consumers } = await untilRotation(api(), 'all are back', ({ phase }) => phase === 'idle')
  expect(consumers.map(({ pinned }) => pinned)).toEqual(CONSUMERS.map(() => versions.old))
  const last = await world.secretsVersions()
  const moved = CONSUMERS.filter((name) => last[name] !== first[name])
  expect(moved.length).toBeGreaterThanOrEqual(count)
  expect(last).toEqual(raised(first, moved, 2))
  await world.applyPasswords()
  await takesPasswords(1)
}

test.runIf(LONG)('stage, overlap, cutover, retire, of deployments that have run for long', async () => {
  await world.untilAllGood()
  await rotateWhole(step)
})

test(
  `stage, overlap, cutover, retire, and servers are killed after every step, ${ROUNDS} times`,
  PATIENCE,
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) await rotateWhole(stepAndKill)
  },
)

test.runIf(LONG)(`the same, and servers are killed amid every step, ${ROUNDS} times`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) await rotateWhole(stepThroughDeath)
})

test('taken back from stage and from overlap: nobody is moved', PATIENCE, async () => {
  await takeBackEarly(step)
})

test('taken back from cutover, when all have moved', PATIENCE, async () => {
  await takeBackCutover(step, CONSUMERS.length)
})

test.runIf(LONG)('taken back from cutover, when some have moved', async () => {
  await takeBackCutover(step, 2)
})

test.runIf(LONG)('taken back, and servers are killed after and amid every step', async () => {
  for (const take of [stepAndKill, stepThroughDeath]) {
    await takeBackEarly(take)
    await takeBackCutover(take, 2)
    await takeBackCutover(take, CONSUMERS.length)
  }
})

test('an operator who forgot to tell Redis: one consumer waits, nobody is shut out, and all of it is taken back', async () => {
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
  await untilRotation(api(), 'all are back', ({ phase }) => phase === 'idle')
  wrong = (await world.tally()).refused
})

test.runIf(LONG)('in the end the secrets store holds the password that is used, and no other', async () => {
  const [first] = (await rotationOf(api())).consumers
  await waitUntil(async () => String(await heldVersions()) === String(first?.pinned), {
    what: 'every other version is destroyed',
    timeoutMs: 180_000,
  })
})
