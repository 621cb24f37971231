// A server is killed at any call of a rotation step or while it moves the consumers, or its watch lags. The step is
// either done once or not done, every listed version exists, and no other version remains.

import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import type { Caller } from '@holdfast/server/operations/caller'
import { rotateSecrets } from '@holdfast/server/operations/secrets/rotation/rotate'
import { sweepIntents } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import { intents, tokens } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { realClock as clock } from '@holdfast/server/system-clock'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { createMortal, type DeathMoment } from '@holdfast/testkit/controllers/mortal-engine'
import { deploymentDeps } from '@holdfast/testkit/secrets/deployment-deps'
import { createMortalProcess, type StoreCalls } from '@holdfast/testkit/secrets/mortal-process'
import { type RotatingWorld, startMoves, startRotatingWorld } from '@holdfast/testkit/secrets/rotating-world'
import { listed, live } from '@holdfast/testkit/secrets/rotation-steps'
import { createHeldWatch } from '@holdfast/testkit/session/held-watch'
import { openTestStore, type TestStoreOptions } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** A clock ahead of the real one by more than the time after which an intent is abandoned. */
const LATER = { now: () => clock.now() + 120_000 }

let world: RotatingWorld
let writer: StoreCalls
let caller: Caller

beforeAll(async () => {
  world = await startRotatingWorld({ moves: false })
  writer = connectSecretsWriter(world.platform.config)
  const token = world.store.list(tokens).find(({ record }) => record.tenant === world.tenant)?.record.id
  if (token === undefined) throw new Error('the tenant has no token')
  caller = {
    tenant: world.tenant,
    token,
    role: 'tenant-admin',
    onBehalf: false,
    requestId: 'req_test',
  }
})
afterAll(async () => {
  await world.stop()
  expect(world.violations).toEqual([])
})

async function open(wrap: TestStoreOptions['wrap']) {
  const { endpoints } = world.platform.config.etcd
  return openTestStore({ endpoints, root: world.platform.root, ...(wrap === undefined ? {} : { wrap }) })
}

const NEW = { values: { password: 'the second one' } }
const bodyOf = (phase: string) => ({ phase, ...(phase === 'stage' ? NEW : {}) })

function rotate(store: Store, secrets: StoreCalls, name: string, phase: string) {
  const deps = deploymentDeps(store, secrets)
  const { limits, namespaces } = deps.admission
  return rotateSecrets({ ...deps, limits, namespaces }, caller, name, bodyOf(phase), {
    idempotency: undefined,
    answerOf: (body) => ({ status: 200, body }),
  })
}

const phaseOf = (label: string): string => {
  const { rotation } = world.credential(label) ?? {}
  return rotation?.aborting === true ? 'aborting' : (rotation?.phase ?? 'idle')
}

/** Checks that every listed version exists and that, after the janitor has run, there are no other versions. */
async function expectConsistent(label: string): Promise<void> {
  await world.store.fresh()
  expect(await live(world, label)).toEqual(expect.arrayContaining(listed(world, label) ?? []))
  await sweepIntents({ store: world.store, clock: LATER, secrets: writer })
  await world.store.fresh()
  const left = world.store.listWithIds(intents).filter(({ record }) => record.resource === label)
  expect(left).toEqual([])
  expect(await live(world, label)).toEqual(listed(world, label))
}

/** Runs a rotation step in a process that dies at a given call. Returns false if the step ended before that call. */
async function dies(atCall: number, moment: DeathMoment, name: string, phase: string): Promise<boolean> {
  const process = createMortalProcess(atCall, moment)
  const opened = await open(process.wrapEngine)
  process.arm()
  const ended = rotate(opened.store, process.wrapSecrets(writer), name, phase).then(
    () => false,
    () => false,
  )
  const died = await Promise.race([process.death.then(() => true), ended])
  opened.close()
  return died
}

describe.each(['before', 'after'] as const)('a server that dies %s the store executes a call', (moment) => {
  test.each([
    ['stage', [], 'idle', 'stage'],
    ['cutover', ['stage', 'overlap'], 'overlap', 'cutover'],
    ['retire', ['stage', 'overlap', 'cutover'], 'cutover', 'idle'],
    ['abort', ['stage', 'overlap'], 'overlap', 'idle'],
    ['abort', ['stage', 'overlap', 'cutover'], 'cutover', 'aborting'],
  ] as const)(
    'leaves the step %s after %j done or not done',
    { timeout: 120_000 },
    async (phase, first, from, to) => {
      const ends = new Set<string>()
      let atCall = 1
      for (; ; atCall += 1) {
        const [label, name] = [uniqueName('db'), uniqueName('still')]
        await world.write(label)
        await world.deploy(name, [label], 0)
        for (const each of first) expect((await world.rotate(name, bodyOf(each))).status).toBe(200)
        const died = await dies(atCall, moment, name, phase)
        await expectConsistent(label)
        ends.add(phaseOf(label))
        if (phaseOf(label) === from) expect((await world.rotate(name, bodyOf(phase))).status).toBe(200)
        await world.store.fresh()
        expect(phaseOf(label)).toBe(to)
        // A cutover raises the deployment's secrets version once and its abort once more, however often each was tried.
        const counts = { cutover: 1, aborting: 2, idle: phase === 'retire' ? 1 : 0, stage: 0 }
        expect(world.deployment(name)?.spec.secretsVersion).toBe(counts[to])
        await expectConsistent(label)
        if (!died) break
      }
      // The first call of every step except `stage` is the transaction, so a death after any call leaves the step done.
      const both = moment === 'before' || phase === 'stage'
      expect(ends).toEqual(new Set(both ? [from, to] : [to]))
      expect(atCall).toBeGreaterThan(phase === 'stage' ? 4 : 1)
    },
  )
})

describe('a server whose watch lags', () => {
  test.each([
    ['overlap', ['stage'], 'abort', 'idle'],
    ['cutover', ['stage', 'overlap'], 'abort', 'idle'],
    ['retire', ['stage', 'overlap', 'cutover'], 'abort', 'aborting'],
    ['abort', ['stage', 'overlap', 'cutover'], 'retire', 'idle'],
  ] as const)(
    'has %s after %j rejected because of an %s that it has not seen',
    async (phase, first, unseen, end) => {
      const [label, name] = [uniqueName('db'), uniqueName('still')]
      await world.write(label)
      await world.deploy(name, [label], 0)
      for (const each of first) expect((await world.rotate(name, bodyOf(each))).status).toBe(200)
      const late = createHeldWatch()
      let onAnswer = (): void => {}
      const { store, close } = await open((engine) => ({
        ...late.wrap(engine),
        transact: (...given) => engine.transact(...given).finally(() => onAnswer()),
      }))
      await store.fresh()
      late.hold()
      expect((await world.rotate(name, { phase: unseen })).status).toBe(200)
      // The lagging watch continues once etcd has answered the transaction of the rotation step.
      onAnswer = () => late.release()
      const outcome = await rotate(store, writer, name, phase)
      close()
      expect(outcome).toMatchObject({ ok: false, rejections: [{ code: 'rotation_transition_invalid' }] })
      await expectConsistent(label)
      expect(phaseOf(label)).toBe(end)
    },
  )
})

/** A leadership that owns every shard, because this server is the only one. */
const soleOwner = (store: Store): Parameters<typeof startMoves>[1] => ({
  owns: (tenant) => tenant === world.tenant,
  fenced: (_tenant, decide) => store.transact(decide),
})

const pins = (label: string, names: readonly string[]) =>
  names.map((name) => world.deployment(name)?.pins?.[label] ?? 1)

describe('a server that dies while it moves the consumers', () => {
  test.each([
    ['before', 'cutover'],
    ['after', 'cutover'],
    ['before', 'abort'],
    ['after', 'abort'],
  ] as const)(
    '%s the store executes a write is replaced by one that completes the %s',
    { timeout: 180_000 },
    async (moment, phase) => {
      let atWrite = 1
      for (; await dieMoving(atWrite, moment, phase); atWrite += 1);
      expect(atWrite).toBeGreaterThan(2)
    },
  )
})

async function dieMoving(atWrite: number, moment: DeathMoment, phase: string): Promise<boolean> {
  const label = uniqueName('db')
  const names = [uniqueName('a'), uniqueName('b'), uniqueName('c')]
  await world.write(label)
  for (const name of names) await world.deploy(name, [label], 1)
  for (const name of names) await world.settled(name)
  const [name = ''] = names
  for (const each of ['stage', 'overlap', 'cutover']) await world.rotate(name, bodyOf(each))
  const isOver = () =>
    phase === 'abort'
      ? world.credential(label)?.rotation === undefined
      : pins(label, names).every((pin) => pin === 2)
  if (phase === 'abort') {
    const helper = startMoves(world.store, soleOwner(world.store), [])
    await waitUntil(() => pins(label, names).every((pin) => pin === 2), {
      what: 'all are moved',
      timeoutMs: 30_000,
    })
    await helper.stop()
    expect((await world.rotate(name, { phase })).status).toBe(200)
  }
  const died = await moveMortally(atWrite, moment, isOver)
  const errors: unknown[] = []
  const successor = startMoves(world.store, soleOwner(world.store), errors)
  await waitUntil(isOver, { what: 'the successor has ended it', timeoutMs: 30_000 })
  for (const each of names) await world.settled(each)
  await successor.stop()
  expect(errors).toEqual([])
  const times = phase === 'abort' ? 2 : 1
  expect(names.map((each) => world.deployment(each)?.spec.secretsVersion)).toEqual([times, times, times])
  if (phase === 'cutover') expect((await world.rotate(name, { phase: 'retire' })).status).toBe(200)
  await expectConsistent(label)
  expect(await live(world, label)).toEqual([phase === 'abort' ? 1 : 2])
  return died
}

async function moveMortally(atWrite: number, moment: DeathMoment, isOver: () => boolean): Promise<boolean> {
  const mortal = createMortal(atWrite, moment)
  const opened = await open(mortal.wrap)
  const moves = startMoves(opened.store, soleOwner(opened.store), [])
  await waitUntil(() => mortal.dead || isOver(), { what: 'it is dead or done', timeoutMs: 30_000 })
  const died = mortal.dead
  await Promise.race([moves.stop(), mortal.death])
  opened.close()
  return died
}
