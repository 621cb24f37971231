// Canaries over HTTP: the state in the record, every step that is possible and every one that is not, scaling policies,
// warnings, events, audit entries, dry runs and backups.

import { eventsOf } from '@holdfast/testkit/nodes/read-events'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { type CanaryWorld, startCanaryWorld, untilRolledOut } from '@holdfast/testkit/scenarios/canary-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const WEB = '/api/v1/deployments/web'
const CANARY = `${WEB}/canary`
const INVALID = '409 canary_state_invalid canary'
/** Each rollout has a watch window of 15 s before a canary may start. */
const TIMEOUT_MS = 150_000
const change = (MODE: string, over: object = {}) => ({
  ...{ change: { environment: { MODE } }, replicas: 1, weight: 10, observe: '1s' },
  ...over,
})

let world: CanaryWorld
beforeAll(async () => {
  world = await startCanaryWorld()
  world.reports.set('slow', { state: 'starting' })
  world.reports.set('broken', { reason: 'unhealthy', cause: 'connection refused' })
})
afterAll(() => world?.stop())

const canary = async () => Object((await world.api.get(WEB)).body['canary'])
const inPhase = (phase: string) =>
  expect.poll(async () => (await canary()).phase, { timeout: 30_000 }).toBe(phase)
const codeOf = async (path: string, body?: object) => {
  const { status, body: answer } = await world.api.post(path, body)
  return `${status} ${answer['code']} ${answer['field']}`
}

test(
  'a canary starts, is observed and promoted, and a dry run changes nothing',
  async () => {
    const { api, platform } = world
    await untilRolledOut(api)
    const before = await dumpTenants(platform)
    expect(await codeOf(CANARY, change('one', { replicas: 3 }))).toBe('422 field_type_invalid replicas')
    const dry = await api.post(`${CANARY}?dryRun=true`, change('one'))
    expect([dry.status, dry.body['warnings']]).toEqual([200, []])
    const { steps, effects } = Object(dry.body['plan'])
    const texts: string[] = steps.map(({ text }: { text: string }) => text)
    expect(texts).toContainEqual(expect.stringMatching(/^Replica 1 of the canary starts on canary-[12]/))
    expect(effects).toMatchObject({ moves: [], restarts: [], stops: [], unplaced: [] })
    expect(await dumpTenants(platform)).toEqual(before)

    const started = await api.post(CANARY, change('one'))
    expect(started.status, started.text).toBe(201)
    expect(started.body['deployment']).toMatchObject({
      revision: 1,
      canary: { phase: 'progressing', weight: 10, replicas: 1, change: { environment: { MODE: 'one' } } },
    })
    expect(await codeOf(CANARY, change('one'))).toBe(INVALID)
    const backup = await api.post('/api/v1/backups', { deploymentName: 'web' })
    expect(backup.status, backup.text).toBe(201)
    const { body: kept } = await api.get(`/api/v1/backups/${String(backup.body['id'])}`)
    expect(kept['canary']).toMatchObject({ weight: 10, change: { environment: { MODE: 'one' } } })
    await inPhase('ready')
    const { body: placed } = await api.get(`${WEB}/placements`)
    const entries: { canary?: boolean }[] = Object(placed['items'])
    expect(entries.filter((entry) => entry.canary === true)).toHaveLength(1)
    expect(entries).toHaveLength(3)
    expect((await api.get(`${WEB}/why`)).body['canary']).toContain('passed its observation')

    const promoted = await api.post(`${CANARY}/promote`, {})
    expect(promoted.status, promoted.text).toBe(200)
    expect(promoted.body['deployment']).toMatchObject({ revision: 2, environment: { MODE: 'one' } })
    expect(Object(promoted.body['deployment']).canary).toBeUndefined()
    expect(await codeOf(`${CANARY}/promote`, {})).toBe(INVALID)
    expect(await codeOf(`${CANARY}/abort`)).toBe(INVALID)
  },
  TIMEOUT_MS,
)

test(
  'a canary may have as many replicas as the scaling policy desires',
  async () => {
    const { api } = world
    await untilRolledOut(api)
    expect((await api.put(WEB, { resources: { cpuMillis: 100 } })).status).toBe(200)
    await untilRolledOut(api)
    const policy = { min: 3, max: 4, metric: 'cpu', targetPercent: 60 }
    expect((await api.put(`${WEB}/scaling`, policy)).status).toBe(200)
    await untilRolledOut(api)
    expect(await codeOf(CANARY, change('slow', { replicas: 4 }))).toBe('422 field_type_invalid replicas')
    const started = await api.post(CANARY, change('slow', { replicas: 3 }))
    expect(started.status, started.text).toBe(201)
    const why = await api.get(`${WEB}/why`)
    expect(why.body).toMatchObject({ canary: expect.any(String), scaling: { desired: 3 } })
    const backup = await api.post('/api/v1/backups', { deploymentName: 'web' })
    const { body: kept } = await api.get(`/api/v1/backups/${String(backup.body['id'])}`)
    expect(kept).toMatchObject({ canary: { replicas: 3 }, scalingPolicy: policy })
    expect((await api.delete(`${WEB}/scaling`)).status).toBe(202)
    expect(await canary()).toMatchObject({ phase: 'progressing', replicas: 3 })
    expect((await api.post(`${CANARY}/abort`, undefined)).status).toBe(200)
  },
  TIMEOUT_MS,
)

test(
  'a canary that is not ready is promoted by force only, and another revision supersedes it',
  async () => {
    const { api } = world
    await untilRolledOut(api)
    expect((await api.post(CANARY, change('slow', { observe: '1h' }))).status).toBe(201)
    expect(await codeOf(`${CANARY}/promote`, {})).toBe(INVALID)
    const restarted = await api.post(`${WEB}/restart`, undefined)
    expect(restarted.body['warnings']).toMatchObject([{ code: 'canary_aborted', field: 'canary' }])
    expect(await canary()).toMatchObject({ phase: 'aborted', reason: 'superseded', failures: [] })
    await untilRolledOut(api)
    const unrouted = await api.put(WEB, { routes: null })
    expect(unrouted.status, unrouted.text).toBe(200)
    await untilRolledOut(api)
    const started = await api.post(CANARY, change('slow', { observe: '1h' }))
    expect(started.body['warnings']).toMatchObject([{ code: 'canary_weight_ignored', field: 'weight' }])
    const aborted = await api.post(`${CANARY}/abort`, undefined)
    expect([aborted.status, await canary()]).toMatchObject([200, { phase: 'aborted', reason: 'aborted' }])
    await untilRolledOut(api)
    expect((await api.post(CANARY, change('forced', { observe: '1h' }))).status).toBe(201)
    await inPhase('observing')
    expect(await codeOf(`${CANARY}/promote`, {})).toBe(INVALID)
    const forced = await api.post(`${CANARY}/promote`, { force: true })
    expect(forced.status, forced.text).toBe(200)
    expect(forced.body['deployment']).toMatchObject({ environment: { MODE: 'forced' } })
    const promoted = (await eventsOf(api, 'web')).filter(({ type }) => type === 'deployment.canary_promoted')
    expect(promoted.at(-1)?.data).toMatchObject({ forced: true })
  },
  TIMEOUT_MS,
)

test(
  'a canary that fails is aborted, and every step is in the events and the audit log',
  async () => {
    const { api } = world
    await untilRolledOut(api)
    expect((await api.post(CANARY, change('broken'))).status).toBe(201)
    await inPhase('aborted')
    expect(await canary()).toMatchObject({
      reason: 'unhealthy',
      failures: [{ replica: 1, reason: 'unhealthy' }],
    })
    const types = (await eventsOf(api, 'web')).map(({ type }) => String(type))
    expect(new Set(types.filter((type) => type.includes('canary')))).toEqual(
      new Set(['started', 'ready', 'promoted', 'aborted'].map((step) => `deployment.canary_${step}`)),
    )
    const { body } = await api.get('/api/v1/audit?limit=500')
    const entries: { action: string }[] = Object(body['items'])
    const actions = entries.map(({ action }) => action)
    for (const action of ['canary_started', 'promoted', 'canary_aborted'])
      expect(actions).toContain(`deployments:${action}`)
  },
  TIMEOUT_MS,
)

test(
  'a rollback supersedes a canary',
  async () => {
    const { api } = world
    await untilRolledOut(api)
    expect((await api.post(CANARY, change('slow', { observe: '1h' }))).status).toBe(201)
    const back = await api.post(`${WEB}/rollback`, { revision: 1 })
    expect(back.status, back.text).toBe(200)
    expect(back.body['warnings']).toMatchObject([{ code: 'canary_aborted', field: 'canary' }])
    expect(await canary()).toMatchObject({ phase: 'aborted', reason: 'superseded', failures: [] })
  },
  TIMEOUT_MS,
)
