// Rejected rotation steps: out of order, without effect, malformed, or without permission. A rejected step changes no
// record and leaves no version in the secrets store.

import { credentials } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { uniqueName } from '@holdfast/testkit'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { type RotatingWorld, startRotatingWorld } from '@holdfast/testkit/secrets/rotating-world'
import { begin, listed, live, step } from '@holdfast/testkit/secrets/rotation-steps'
import { DEPLOYMENTS } from '@holdfast/testkit/secrets/secrets-world'
import { write } from '@holdfast/testkit/session/session-records'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: RotatingWorld

beforeAll(async () => {
  world = await startRotatingWorld()
})
afterAll(() => world.stop())

const NEW = { values: { password: 'the second one' } }
const rotationOf = (label: string) => world.credential(label)?.rotation

test('a dry run of a rotation step returns the resulting phase and stores nothing', async () => {
  const { label, name } = await begin(world, [uniqueName('web')], 1)
  const path = `${DEPLOYMENTS}/${name}/secrets/rotate?dryRun=true`
  for (const phase of ['stage', 'overlap', 'cutover']) {
    const body = { phase, ...(phase === 'stage' ? NEW : {}) }
    const before = await dumpTenants(world.platform)
    const answer = await world.api.post(path, body)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toMatchObject({
      alterations: [],
      warnings: [],
      plan: { result: { deployment: name, credentials: [{ phase, versions: { old: 1, new: 2 } }] } },
    })
    const { restarts }: { restarts: { deployment: string }[] } = Object(answer.body['plan']).effects
    expect(restarts.map(({ deployment }) => deployment)).toEqual(phase === 'cutover' ? [name] : [])
    expect(await dumpTenants(world.platform)).toEqual(before)
    expect(await live(world, label)).toEqual(listed(world, label))
    await step(world, name, phase, phase === 'stage' ? NEW : {})
  }
  const refusal = await world.api.post(path, { phase: 'overlap' })
  expect(refusal.codes).toEqual(['rotation_transition_invalid'])
})

describe('a rotation step is rejected', () => {
  const STEPS = ['stage', 'overlap', 'cutover', 'retire', 'abort']
  const NEXT: { readonly [phase: string]: readonly string[] } = {
    idle: ['stage'],
    stage: ['overlap', 'abort'],
    overlap: ['cutover', 'abort'],
    cutover: ['retire', 'abort'],
  }

  test('out of order, from every phase', async () => {
    const { label, name } = await begin(world, [uniqueName('web')], 1)
    for (const phase of ['idle', 'stage', 'overlap', 'cutover']) {
      if (phase !== 'idle') await step(world, name, phase, phase === 'stage' ? NEW : {})
      for (const wrong of [...STEPS, 'idle', 'retired', ''].filter((each) => !NEXT[phase]?.includes(each))) {
        const before = world.credential(label)
        const answer = await world.rotate(name, { phase: wrong, ...(wrong === 'stage' ? NEW : {}) })
        expect([phase, wrong, answer.status, answer.codes]).toEqual([
          ...[phase, wrong, 409],
          ['rotation_transition_invalid'],
        ])
        expect(answer.body['field']).toBe('phase')
        expect(answer.body['expected']).toContain(NEXT[phase]?.[0])
        expect(answer.body['why']).toContain(phase)
        expect([world.credential(label), await live(world, label)]).toEqual([before, listed(world, label)])
      }
    }
  })

  test.each<[string, string, object]>([
    ['secret_name_invalid', 'secret', { phase: 'stage', secret: 'UNKNOWN' }],
    ['secret_write_empty', 'values', { phase: 'stage' }],
    ['secret_write_empty', 'values', { phase: 'stage', values: {} }],
    ['rotation_transition_invalid', 'phase', {}],
    ['rotation_transition_invalid', 'phase', { phase: null }],
    ['rotation_transition_invalid', 'phase', { phase: 'abort', ...NEW }],
    ['field_type_invalid', 'phase', { phase: 3 }],
    ['field_type_invalid', 'secret', { phase: 'stage', secret: ['S0'] }],
    ['field_unknown', 'step', { phase: 'stage', step: 'stage' }],
    ['secret_key_invalid', 'values["a b"]', { phase: 'stage', values: { 'a b': 'c' } }],
    [
      'secret_generate_length_out_of_range',
      'generate.length',
      { phase: 'stage', generate: { keys: ['a'], length: 0 } },
    ],
  ])('with %s at field %s, and leaves nothing behind', async (code, field, body) => {
    const label = uniqueName('db')
    await world.write(label)
    const name = uniqueName('still')
    await world.deploy(name, [label], 0)
    const answer = await world.rotate(name, body)
    expect([answer.codes[0], answer.body['field']], answer.text).toEqual([code, field])
    expect([await live(world, label), world.credential(label)?.rotation]).toEqual([[1], undefined])
  })

  test('for a deployment without secrets, a path without a version, and a missing deployment', async () => {
    const [bare, empty] = [uniqueName('bare'), uniqueName('empty')]
    await world.deploy(bare, [], 0)
    await world.deploy(empty, [uniqueName('none')], 0)
    for (const name of [bare, empty]) {
      const answer = await world.rotate(name, { phase: 'stage', ...NEW })
      expect(answer.codes).toEqual(['rotation_transition_invalid'])
    }
    expect((await world.rotate('missing', { phase: 'stage' })).codes).toEqual(['deployment_not_found'])
    expect((await world.api.get(`${DEPLOYMENTS}/missing/secrets/rotation`)).codes).toEqual([
      'deployment_not_found',
    ])
  })

  test('for consumers of two versions, because there is no single version to go back to', async () => {
    const names = [uniqueName('a'), uniqueName('b')]
    const { label } = await begin(world, names, 1)
    await world.write(label, { password: 'second' })
    await world.api.send('POST', `${DEPLOYMENTS}/${names[0]}/restart`)
    const answer = await world.rotate(names[0] ?? '', { phase: 'stage', ...NEW })
    expect(answer.codes).toEqual(['rotation_transition_invalid'])
    expect(answer.body['expected']).toContain(`restart ${names[1]}`)
    expect(await live(world, label)).toEqual([1, 2])
  })

  test('with secret_in_use if its material would push a version in use out of the store', async () => {
    const [label, name] = [uniqueName('db'), uniqueName('still')]
    await world.write(label)
    await world.deploy(name, [label], 0)
    await write(world.store, (transaction) => {
      const address = inTenant(world.tenant, credentials, label)
      const credential = transaction.get(address)
      const [first] = credential?.versions ?? []
      if (credential === undefined || first === undefined) throw new Error('no version')
      transaction.put(address, { ...credential, versions: [first, { ...first, version: 950 }] })
    })
    const answer = await world.rotate(name, { phase: 'stage', ...NEW })
    expect([answer.codes, answer.body['field']], answer.text).toEqual([['secret_in_use'], 'values'])
    expect(answer.body['why']).toContain(name)
    expect([await live(world, label), rotationOf(label)]).toEqual([[1], undefined])
  })

  test('without permission', async () => {
    const { name } = await begin(world, [uniqueName('web')], 1)
    const { platform } = world
    for (const role of ['viewer', 'developer']) {
      const api = platform.api(await makeToken(platform.api(), platform.acme.id, role))
      const answer = await api.post(`${DEPLOYMENTS}/${name}/secrets/rotate`, { phase: 'stage', ...NEW })
      expect(answer.codes).toEqual(['permission_denied'])
      expect((await api.get(`${DEPLOYMENTS}/${name}/secrets/rotation`)).status).toBe(200)
    }
    const foreign = platform.api(platform.globex.token)
    expect((await foreign.post(`${DEPLOYMENTS}/${name}/secrets/rotate`, NEW)).codes).toEqual([
      'deployment_not_found',
    ])
    const admin = platform.api(await makeToken(platform.api(), platform.acme.id, 'secrets-admin'))
    const answer = await admin.post(`${DEPLOYMENTS}/${name}/secrets/rotate`, { phase: 'stage', ...NEW })
    expect(answer.status).toBe(200)
  })
})
