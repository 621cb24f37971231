// Credential rotation on a real etcd and a real secrets store, with agents that only report: complete, aborted from each
// phase, verified, shared by several deployments, and concurrent.

import { uniqueName } from '@holdfast/testkit'
import { eventsOf } from '@holdfast/testkit/controllers/placing-world'
import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { type RotatingWorld, startRotatingWorld } from '@holdfast/testkit/secrets/rotating-world'
import { begin, listed, live, step } from '@holdfast/testkit/secrets/rotation-steps'
import { DEPLOYMENTS } from '@holdfast/testkit/secrets/secrets-world'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: RotatingWorld

beforeAll(async () => {
  world = await startRotatingWorld()
})
afterAll(async () => {
  await world.stop()
  expect(world.violations).toEqual([])
})

interface Shown {
  readonly phase: string
  readonly next: string[]
  readonly versions: { readonly old: number | null; readonly new: number | null }
  readonly consumers: { readonly deployment: string; readonly pinned: number; readonly proved: boolean }[]
  readonly blockedBy: string[]
}

const shownIn = ({ body }: ApiAnswer): Shown[] => Object(body['credentials'])
const read = async (name: string) =>
  shownIn(await world.api.get(`${DEPLOYMENTS}/${name}/secrets/rotation`))[0]
const secretsVersion = (name: string) => world.deployment(name)?.spec.secretsVersion

async function advance(name: string, ...phases: string[]): Promise<void> {
  for (const phase of phases) await step(world, name, phase, phase === 'stage' ? NEW : {})
}

const NEW = { values: { password: 'the second one' } }
const proved = async (name: string) =>
  expect.poll(async () => (await read(name))?.blockedBy, { timeout: 20_000 }).toEqual([])
const idle = (label: string) =>
  expect.poll(() => world.credential(label)?.rotation, { timeout: 20_000 }).toBeUndefined()

describe('a complete rotation', () => {
  test('through stage, overlap, cutover and retire returns the next step and what it waits for', async () => {
    const { label, name } = await begin(world)
    await world.write(label, { password: 'the second one' })
    const staged = await step(world, name, 'stage')
    expect(shownIn(staged)[0]).toMatchObject({
      secret: 'S0',
      vault_path: `resources/${label}`,
      phase: 'stage',
      next: ['overlap', 'abort'],
      versions: { old: 1, new: 2 },
      blockedBy: [],
      consumers: [{ deployment: name, pinned: 1, proved: false, running: [{ version: 1, replicas: 2 }] }],
    })
    expect(shownIn(await step(world, name, 'overlap'))[0]).toMatchObject({
      phase: 'overlap',
      next: ['cutover', 'abort'],
    })
    expect(secretsVersion(name)).toBe(0)
    const cut = await step(world, name, 'cutover')
    expect(cut.body['secretsVersion']).toBe(1)
    expect(shownIn(cut)[0]).toMatchObject({ phase: 'cutover', next: ['retire', 'abort'] })
    expect(shownIn(cut)[0]?.blockedBy).not.toEqual([])
    const early = await world.rotate(name, { phase: 'retire' })
    expect([early.status, early.codes]).toEqual([409, ['rotation_transition_invalid']])
    expect(early.body['expected']).toContain(`${name}`)
    await proved(name)
    expect((await read(name))?.consumers).toMatchObject([{ pinned: 2, proved: true }])
    expect(await live(world, label)).toEqual([1, 2])
    const retired = await step(world, name, 'retire')
    expect(shownIn(retired)[0]).toMatchObject({ phase: 'idle', next: ['stage'] })
    expect(await live(world, label)).toEqual([2])
    expect([listed(world, label), world.credential(label)?.initial]).toEqual([[2], 2])
    expect(secretsVersion(name)).toBe(1)
    await world.settled(name)
  })

  test('is in events and the audit log, and its value is nowhere', async () => {
    const { name, label } = await begin(world)
    const value = 'sentinel-rotated-value'
    const texts = [(await step(world, name, 'stage', { values: { password: value } })).text]
    for (const phase of ['overlap', 'cutover']) texts.push((await step(world, name, phase)).text)
    await proved(name)
    texts.push((await step(world, name, 'retire')).text)
    const emitted = (await eventsOf(world.store, world.tenant)).filter(({ subject }) => subject.name === name)
    const advanced = emitted.filter(({ type }) => type === 'secret.rotation_advanced')
    expect(advanced.map(({ reason }) => reason)).toEqual(['stage', 'overlap', 'cutover', 'retire'])
    expect(emitted.filter(({ reason }) => reason === 'rotated')).toHaveLength(1)
    const written = await world.api.get(
      `/api/v1/events?type=secret.written&subject=${encodeURIComponent(`resources/${label}`)}`,
    )
    expect(written.body['items']).toHaveLength(2)
    expect(written.body['items']).toContainEqual(
      expect.objectContaining({ data: { path: `resources/${label}`, version: 2 } }),
    )
    const audit = await world.api.get('/api/v1/audit?limit=500')
    const own: { action: string; subject: { name: string } }[] = Object(audit.body['items'])
    const actions = own.filter(({ subject }) => subject.name === name).map(({ action }) => action)
    for (const phase of ['stage', 'overlap', 'cutover', 'retire'])
      expect(actions).toContain(`secrets:rotation-${phase}`)
    const dump = JSON.stringify(await dumpTenants(world.platform))
    for (const text of [...texts, audit.text, dump, ...world.platform.logLines])
      expect(text).not.toContain(value)
  })

  test('of generated material in a deployment without replicas waits for nothing', async () => {
    const [label, name] = [uniqueName('db'), uniqueName('still')]
    await world.write(label)
    await world.deploy(name, [label], 0)
    await step(world, name, 'stage', { generate: { keys: ['password'] } })
    for (const phase of ['overlap', 'cutover', 'retire']) await step(world, name, phase)
    expect(await live(world, label)).toEqual([2])
    expect(Object.keys(await world.eye.read(`resources/${label}`, 2))).toEqual(['password'])
  })

  test('of all credentials of a deployment in one step increments secretsVersion once', async () => {
    const labels = [uniqueName('a'), uniqueName('b')]
    const name = uniqueName('web')
    for (const label of labels) await world.write(label)
    await world.deploy(name, labels)
    await world.settled(name)
    const unclear = await world.rotate(name, { phase: 'stage', ...NEW })
    expect([unclear.codes, unclear.body['field']]).toEqual([['secret_name_invalid'], 'secret'])
    for (const label of labels) await world.write(label, { password: 'second' })
    for (const phase of ['stage', 'overlap', 'cutover']) await step(world, name, phase)
    expect(secretsVersion(name)).toBe(1)
    await proved(name)
    await step(world, name, 'retire', { secret: 'S1' })
    const [first, second] = shownIn(await world.api.get(`${DEPLOYMENTS}/${name}/secrets/rotation`))
    expect([first?.phase, second?.phase]).toEqual(['cutover', 'idle'])
    await step(world, name, 'retire', { secret: 'S0' })
    expect(await Promise.all(labels.map((label) => live(world, label)))).toEqual([[2], [2]])
  })
})

describe('an aborted rotation', () => {
  test.each([
    ['stage', ['stage']],
    ['overlap', ['stage', 'overlap']],
  ])('from %s destroys the new version and recreates nothing', async (_from, phases) => {
    const { label, name } = await begin(world)
    const { revision } = world.deployment(name) ?? {}
    await advance(name, ...phases)
    expect(await live(world, label)).toEqual([1, 2])
    expect(shownIn(await step(world, name, 'abort'))[0]).toMatchObject({ phase: 'idle' })
    expect([await live(world, label), listed(world, label)]).toEqual([[1], [1]])
    expect(world.deployment(name)?.revision).toBe(revision)
    // After an abort, a rotation can be started again.
    await advance(name, 'stage', 'abort')
    expect(await live(world, label)).toEqual([1])
  })

  test('from cutover goes back to the old version and keeps the new one until no container has it', async () => {
    const { label, name } = await begin(world)
    await advance(name, 'stage', 'overlap', 'cutover')
    await proved(name)
    const aborted = await step(world, name, 'abort')
    expect(shownIn(aborted)[0]).toMatchObject({ phase: 'cutover', next: [], consumers: [{ pinned: 1 }] })
    expect(shownIn(aborted)[0]?.blockedBy).not.toEqual([])
    expect(await live(world, label)).toEqual([1, 2])
    expect((await world.rotate(name, { phase: 'abort' })).codes).toEqual(['rotation_transition_invalid'])
    await idle(label)
    expect([secretsVersion(name), listed(world, label)]).toEqual([2, [1]])
    await world.settled(name)
  })

  test('after a failed cutover: the update rolls back automatically, and the abort ends the rotation', async () => {
    const label = uniqueName('db')
    await world.write(label)
    const name = uniqueName('web')
    await world.deploy(name, [label], 2, ({ secrets = [] }) =>
      secrets[0]?.version === 2 ? { state: 'running', reason: 'unhealthy' } : {},
    )
    await world.settled(name)
    await advance(name, 'stage', 'overlap', 'cutover')
    await expect.poll(async () => (await read(name))?.blockedBy.join()).toContain('version 1')
    expect((await world.rotate(name, { phase: 'retire' })).status).toBe(409)
    await step(world, name, 'abort')
    await idle(label)
    expect(listed(world, label)).toEqual([1])
    await world.settled(name)
  })
})

describe('the proof of a rotation', () => {
  test.each([
    ['a forged one', { proof: 'forged' }],
    ['one of a container that is not ready', { state: 'running' } as const],
  ])('is not accepted if it is %s: retire waits, and the abort rolls back', async (_what, report) => {
    const [label, name] = [uniqueName('db'), uniqueName('web')]
    await world.write(label)
    await world.deploy(name, [label], 1, ({ secrets = [] }) => (secrets[0]?.version === 2 ? report : {}))
    await world.settled(name)
    await advance(name, 'stage', 'overlap', 'cutover')
    await expect
      .poll(async () => (await read(name))?.blockedBy.at(-1), { timeout: 20_000 })
      .toBe(`${name} has proved version 2 on 0 of 1 replicas`)
    if ('proof' in report) await world.settled(name)
    expect((await world.rotate(name, { phase: 'retire' })).status).toBe(409)
    await step(world, name, 'abort')
    await idle(label)
    await world.settled(name)
  })
})

test('a staged version is applied by cutover only: updates and restarts leave it alone', async () => {
  const { label, name } = await begin(world)
  const pin = () => world.deployment(name)?.pins?.[label] ?? 1
  for (const phase of ['stage', 'overlap']) {
    await advance(name, phase)
    await world.api.put(`${DEPLOYMENTS}/${name}`, { replicas: phase === 'stage' ? 1 : 2 })
    await world.api.send('POST', `${DEPLOYMENTS}/${name}/restart`)
    await world.store.fresh()
    expect(pin()).toBe(1)
  }
  await step(world, name, 'cutover')
  await world.api.send('POST', `${DEPLOYMENTS}/${name}/restart`)
  await world.store.fresh()
  expect(pin()).toBe(2)
  await proved(name)
  await step(world, name, 'retire')
})

describe('a rotation shared by two deployments', () => {
  test('moves the others one after another, and retire waits for all', async () => {
    const names = [uniqueName('a'), uniqueName('b'), uniqueName('c')]
    const { label } = await begin(world, names, 1)
    const requester = names[1] ?? ''
    await advance(requester, 'stage', 'overlap')
    const moves: string[] = []
    const unwatch = world.store.subscribe(() => {
      for (const name of names)
        if (world.deployment(name)?.pins?.[label] === 2 && !moves.includes(name)) moves.push(name)
    })
    await step(world, requester, 'cutover')
    await proved(requester)
    unwatch()
    expect(moves).toEqual([requester, names[0], names[2]])
    expect(names.map(secretsVersion)).toEqual([1, 1, 1])
    // Any deployment that uses the secret may request the next rotation step.
    await step(world, names[2] ?? '', 'retire')
    expect(await live(world, label)).toEqual([2])
  })

  test('aborted during cutover brings every consumer back and increments each secretsVersion', async () => {
    const names = [uniqueName('a'), uniqueName('b')]
    const { label, name } = await begin(world, names, 1)
    await advance(name, 'stage', 'overlap', 'cutover')
    await expect.poll(() => names.map((each) => world.deployment(each)?.pins?.[label])).toEqual([2, 2])
    await step(world, name, 'abort')
    await idle(label)
    expect(names.map((each) => world.deployment(each)?.pins?.[label])).toEqual([1, 1])
    expect(names.map(secretsVersion)).toEqual([2, 2])
    for (const each of names) await world.settled(each)
  })

  test('begun twice at once starts once, and leaves no version of the other', async () => {
    const names = [uniqueName('a'), uniqueName('b')]
    const { label } = await begin(world, names, 1)
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(names.map((name) => world.rotate(name, { phase: 'stage', ...NEW })))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
      expect(await live(world, label)).toEqual(listed(world, label))
      await step(world, names[0] ?? '', 'abort')
    }
    expect(await live(world, label)).toEqual([1])
  })

  test('waits for the last container of a deployment that drops the reference', async () => {
    const label = uniqueName('db')
    await world.write(label)
    const [name, other] = [uniqueName('a'), uniqueName('b')]
    let silent = true
    await world.deploy(name, [label], 1)
    const agents = await world.deploy(other, [label], 1, ({ secrets }) =>
      secrets === undefined && silent ? undefined : {},
    )
    for (const each of [name, other]) await world.settled(each)
    await advance(name, 'stage', 'overlap')
    await world.api.put(`${DEPLOYMENTS}/${other}`, { secrets: [] })
    await step(world, name, 'cutover')
    const waits = async () => (await read(name))?.blockedBy
    await expect
      .poll(waits, { timeout: 20_000 })
      .toEqual([`${other} no longer refers to it, but a container still uses version 1`])
    expect((await world.rotate(name, { phase: 'retire' })).body['expected']).toContain(other)
    silent = false
    agents.reconcile()
    await proved(name)
    await step(world, name, 'retire')
    expect(await live(world, label)).toEqual([2])
  })

  test('gives a new consumer the old version, and retire waits for it', async () => {
    const { label, name } = await begin(world)
    await advance(name, 'stage', 'overlap', 'cutover')
    await proved(name)
    await world.stopControllers()
    const late = uniqueName('late')
    await world.deploy(late, [label], 1)
    expect((await world.rotate(name, { phase: 'retire' })).body['expected']).toContain(late)
    world.startControllers(uniqueName('next'))
    await proved(name)
    await step(world, name, 'retire')
    expect(await live(world, label)).toEqual([2])
  })
})

test('a retried rotation step with an Idempotency-Key gets the first response, and there is one version', async () => {
  const { label, name } = await begin(world, [uniqueName('web')], 1)
  const key = { 'Idempotency-Key': uniqueName('key') }
  const [first, second] = await Promise.all([
    world.rotate(name, { phase: 'stage', ...NEW }, key),
    world.rotate(name, { phase: 'stage', ...NEW }, key),
  ])
  expect(first.status, first.text).toBe(200)
  expect(second.body).toEqual(first.body)
  await step(world, name, 'overlap')
  expect((await world.rotate(name, { phase: 'stage', ...NEW }, key)).body).toEqual(first.body)
  expect((await world.rotate(name, { phase: 'overlap' }, key)).codes).toEqual(['idempotency_key_reused'])
  expect(await live(world, label)).toEqual([1, 2])
})

test('a restart concurrent with a stage never destroys a pinned version', async () => {
  const { label, name } = await begin(world, [uniqueName('web')], 1)
  for (let round = 0; round < 8; round += 1) {
    await world.write(label, { password: `round ${round}` })
    const [staged, restarted] = await Promise.all([
      world.rotate(name, { phase: 'stage' }),
      world.api.send('POST', `${DEPLOYMENTS}/${name}/restart`),
    ])
    expect([200, 422]).toContain(staged.status)
    expect(restarted.status).toBe(200)
    if (staged.status === 200) await step(world, name, 'abort')
    await idle(label)
    const pin = world.deployment(name)?.pins?.[label] ?? world.credential(label)?.initial
    expect(listed(world, label)).toContain(pin)
    expect(await live(world, label)).toContain(pin)
  }
  await world.settled(name)
})
