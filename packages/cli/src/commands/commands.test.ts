// Tests of single commands against scripted API responses.

import { describe, expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { apply } from './apply.ts'
import { audit } from './audit.ts'
import { describe as describeCommand } from './describe.ts'
import { events } from './events.ts'
import { get } from './get.ts'
import { registryLogin } from './registry/registry-login.ts'
import { rolloutHistory } from './rollout/rollout-history.ts'
import { scale } from './scale.ts'
import { status } from './status.ts'
import { why } from './why.ts'

const ARCHIVED = {
  name: 'web',
  uid: 'dep_1',
  revision: 3,
  specHash: 'x',
  author: 'tok_1',
  createdAt: '2026-01-31T11:00:00.000Z',
  spec: {
    kind: 'Deployment',
    name: 'web',
    image: 'registry.example.com/web:1.4.2',
    replicas: 1,
    secrets: [],
    secretsVersion: 0,
    resources: { cpuMillis: 0, memoryBytes: 0 },
    update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
    stopGracePeriod: '10s',
  },
}

describe('output formats and required options', () => {
  test('rollout history --revision prints a manifest, or JSON with -o json', async () => {
    const client = scriptClient({
      'GET /archives/deployments/web/3': ARCHIVED,
      'GET /archives/deployments/web/2': {
        ...ARCHIVED,
        revision: 2,
        spec: { ...ARCHIVED.spec, replicas: 2 },
      },
    })
    const shown = async (typed: { [option: string]: string }) => {
      const terminal = scriptTerminal()
      await rolloutHistory.run(invocation(terminal, ['web'], { revision: '3', ...typed }), client)
      return terminal.printed.out
    }
    expect(JSON.parse(await shown({ output: 'json' }))).toEqual(ARCHIVED.spec)
    expect(await shown({ output: 'yaml' })).toMatch(/^kind: Deployment\nname: web\n/)
    expect(await shown({})).toMatch(
      /^# revision 3 of web, stored at 2026-\S+ by tok_1\n# changed since revision 2:\n# - replicas: 2\n# \+ replicas: 1\nkind: Deployment\n/,
    )
  })

  test('rollout history accepts the revision as an argument, once', async () => {
    const first = { ...ARCHIVED, revision: 1 }
    const client = scriptClient({ 'GET /archives/deployments/web/1': first })
    const shown = async (args: readonly string[], typed = {}) => {
      const terminal = scriptTerminal()
      const exit = await rolloutHistory.run(invocation(terminal, args, typed), client)
      return { exit, ...terminal.printed }
    }
    const head = '# revision 1 of web, stored at 2026-01-31T11:00:00.000Z by tok_1\nkind: Deployment\n'
    expect(await shown(['web', '1'])).toEqual({ exit: 0, out: expect.stringContaining(head), err: '' })
    expect(await shown(['web', 'x'])).toMatchObject({ exit: 2, out: '' })
    expect(await shown(['web', '1'], { revision: '1' })).toMatchObject({ exit: 2, out: '' })
  })

  test('rollout history names the revision that a rollback stored again', async () => {
    const entry = (revision: number, image: string) => ({
      ...ARCHIVED,
      revision,
      specHash: image,
      spec: { ...ARCHIVED.spec, image },
    })
    const items = [entry(1, 'a'), entry(2, 'b'), entry(3, 'a'), entry(4, 'a')]
    const terminal = scriptTerminal()
    const client = scriptClient({
      'GET /archives/deployments/web?limit=500': { items, nextCursor: null },
    })
    await rolloutHistory.run(invocation(terminal, ['web']), client)
    expect(terminal.printed.out).toBe(
      [
        'REVISION  AGE  IMAGE  CHANGED                AUTHOR',
        '1         1h   a      -                      tok_1',
        '2         1h   b      image                  tok_1',
        '3         1h   a      image (as revision 1)  tok_1',
        '4         1h   a      -                      tok_1',
        '',
      ].join('\n'),
    )
  })

  test.each([
    ['get', get, ['nodes']],
    ['events', events, []],
  ])('%s --watch rejects -o yaml before any request', async (_, command, args) => {
    const terminal = scriptTerminal()
    const typed = invocation(terminal, args, { watch: true, output: 'yaml' })
    expect(await command.run(typed, scriptClient({}))).toBe(2)
    expect(terminal.printed).toEqual({
      out: '',
      err: expect.stringContaining('--watch does not support -o yaml'),
    })
  })

  test('get --watch -o json prints one object per line', async () => {
    const quota = { kind: 'nodes', used: 1, limit: 50 }
    const terminal = { ...scriptTerminal(), interrupted: AbortSignal.abort() }
    const typed = invocation(terminal, ['quotas'], { watch: true, output: 'json' })
    expect(await get.run(typed, scriptClient({ 'GET /quotas': { items: [quota] } }))).toBe(130)
    expect(terminal.printed.out).toBe(`${JSON.stringify(quota)}\n`)
  })

  test('registry login without a user name fails before the password prompt', async () => {
    const terminal = scriptTerminal()
    expect(await registryLogin.run(invocation(terminal, ['registry.example.com']), scriptClient({}))).toBe(2)
    expect(terminal.printed.err).toBe('error: no user name given; use -u <name>\n')
  })
})

const UNTIL_FOUND = '/events?subject=web&limit=2'

test('events reads older pages until it has enough, and the watch resumes from the newest', async () => {
  const eventWith = (message: string) => ({
    id: `evt_${message}`,
    type: 'deployment.updated',
    tenant: 't',
    time: '2026-01-31T11:00:00.000Z',
    severity: 'info',
    subject: { kind: 'Deployment', name: 'web', uid: 'dep_1' },
    reason: '',
    message,
    data: {},
    cursor: '',
    count: 1,
    firstSeen: '',
    lastSeen: '2026-01-31T11:00:00.000Z',
  })
  const client = scriptClient({
    [`GET ${UNTIL_FOUND}`]: { items: [], nextCursor: '90-0', earlierCursor: '60-0' },
    [`GET ${UNTIL_FOUND}&before=60-0`]: {
      items: [eventWith('two')],
      nextCursor: '59-0',
      earlierCursor: '30-0',
    },
    'GET /events?subject=web&limit=1&before=30-0': { items: [eventWith('one')], nextCursor: '29-0' },
  })
  const typed = { subject: 'web', limit: '2', output: 'name' }
  const terminal = scriptTerminal()
  expect(await events.run(invocation(terminal, [], typed), client)).toBe(0)
  expect(terminal.printed.out).toBe('event/evt_one\nevent/evt_two\n')
  const page = await client.pastEvents({ subject: 'web', limit: 2 })
  expect(page.ok && [page.value.nextCursor, page.value.earlierCursor]).toEqual(['90-0', undefined])
})

test('describe names the command for older events when the timeline is cut', async () => {
  const status = {
    phase: 'Running',
    reason: '',
    message: '',
    runningRevision: 3,
    replicas: { desired: 1, placed: 1, ready: 1 },
    image: { reference: 'x', digest: null },
  }
  const { spec, ...archived } = ARCHIVED
  const record = { ...spec, ...archived, updatedAt: archived.createdAt, status, residencyLabels: {} }
  const why = { decidedAt: null, phase: 'Running', summary: '', candidates: [], cure: [] }
  const shown = async (timeline: object) => {
    const terminal = scriptTerminal()
    const client = scriptClient({
      'GET /deployments/web': record,
      'GET /deployments/web/status': { ...status, timeline: [], ...timeline },
      'GET /deployments/web/placements': { items: [] },
      'GET /deployments/web/why': why,
    })
    await describeCommand.run(invocation(terminal, ['web']), client)
    return terminal.printed
  }
  const hint = 'older events: holdfast events --subject web --limit 500'
  expect(await shown({ earlierCursor: '30-0' })).toEqual({ out: expect.stringContaining(hint), err: '' })
  expect(await shown({})).toEqual({ out: expect.not.stringContaining(hint), err: '' })
})

describe('an empty list', () => {
  const printedFor = async (kind: string, path: string, isTerminal: boolean) => {
    const terminal = scriptTerminal({ isTerminal })
    const empty = { items: [], nextCursor: null }
    await get.run(invocation(terminal, [kind]), scriptClient({ [`GET ${path}`]: empty }))
    return terminal.printed
  }
  test('is reported in the plural', async () => {
    expect(await printedFor('registries', '/registries', false)).toEqual({ out: '', err: 'no registries\n' })
    expect(await printedFor('audit', '/audit?limit=500', false)).toEqual({ out: '', err: 'no entries\n' })
  })
  test('has no headers in the status overview', async () => {
    const terminal = scriptTerminal()
    const none = { items: [], nextCursor: null }
    const answers = { 'GET /deployments?limit=500': none, 'GET /nodes?limit=500': none }
    const quotas = { items: [{ kind: 'stored_bytes', used: 2048, limit: 16 * 1024 ** 2 }] }
    await status.run(
      invocation(terminal, []),
      scriptClient({ ...answers, 'GET /quotas': quotas, 'GET /events?limit=10': none }),
    )
    expect(terminal.printed.out).toMatch(/\nstored 2KiB\/16MiB\n\nno deployments yet; .*\n\nno nodes yet; /)
  })
  test('names the next step on a terminal only', async () => {
    expect((await printedFor('nodes', '/nodes?limit=500', false)).err).toBe('no nodes\n')
    expect((await printedFor('nodes', '/nodes?limit=500', true)).err).toMatch(
      /^no nodes yet; holdfast node join-/,
    )
  })
})

describe('audit', () => {
  const entry = (id: string, action: string, kind: string, name: string, revision?: number) => ({
    id,
    time: '2026-01-31T11:00:00.000Z',
    tenant: 't',
    actor: { token: 'tok_01M7HXCWRBKBXDHZR7FJS3A0GA', name: 'platform-admin', role: 'platform-admin' },
    onBehalf: false,
    action,
    subject: { kind, name },
    requestId: 'req_1',
    ...(revision === undefined ? {} : { revision }),
  })
  const items = [
    entry('1', 'deployments:created', 'Deployment', 'web', 1),
    entry('2', 'registries:credential-written', 'Registry', 'registry.example.com:5000'),
    entry('3', 'deployments:rolled_back', 'Deployment', 'web', 2),
  ]
  const printedFor = async (args: readonly string[], columns: number, output = 'table') => {
    const terminal = { ...scriptTerminal({ isTerminal: true }), columns: () => columns }
    const client = scriptClient({ 'GET /audit?limit=500': { items, nextCursor: null } })
    const exit = await audit.run(invocation(terminal, args, { output }), client)
    return { exit, ...terminal.printed }
  }

  test('lists the entries of one resource with their revisions', async () => {
    expect((await printedFor(['deployment/web'], 120)).out).toBe(
      [
        'AGE  ACTION                   SUBJECT         REVISION  ROLE            BY',
        '1h   deployments:created      Deployment web  1         platform-admin  platform-admin',
        '1h   deployments:rolled_back  Deployment web  2         platform-admin  platform-admin',
        '',
      ].join('\n'),
    )
    expect(JSON.parse((await printedFor(['web'], 120, 'json')).out).items).toHaveLength(2)
  })
  test('prints one line per entry at 80 columns', async () => {
    const lines = (await printedFor([], 80)).out.trimEnd().split('\n')
    expect(lines).toHaveLength(1 + items.length)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  })
  test('reports that a name has no entries', async () =>
    expect(await printedFor(['absent'], 80)).toEqual({
      exit: 5,
      out: '',
      err: 'error: no audit entry of absent\n',
    }))
})

test.each([
  [
    ['web', '3'],
    { replicas: '2' },
    'the number of replicas is given twice, for example: holdfast scale web 5',
  ],
  [['web=3'], {}, 'no number of replicas given, for example: holdfast scale web 3'],
  [['web', 'x'], {}, '"x" is not a whole number, for example: holdfast scale web 5'],
])('scale rejects %j with %j', async (args, typed, message) => {
  const terminal = scriptTerminal()
  expect(await scale.run(invocation(terminal, args, typed), scriptClient({}))).toBe(2)
  expect(terminal.printed).toEqual({ out: '', err: `error: ${message}\n` })
})

test('apply names the fields that it changed, on stderr', async () => {
  const { spec, ...archived } = ARCHIVED
  const status = {
    phase: 'Running',
    reason: '',
    message: '',
    runningRevision: 3,
    replicas: { desired: 1, placed: 1, ready: 1 },
    image: { reference: 'x', digest: null },
  }
  const before = { ...spec, ...archived, updatedAt: archived.createdAt, status, residencyLabels: {} }
  const after = { ...before, revision: 4, specHash: 'y', image: 'web:2', labels: { a: 'b' } }
  const client = scriptClient({
    'GET /deployments/web': before,
    'PUT /deployments/web': { deployment: after, alterations: [], warnings: [] },
  })
  const manifest = 'kind: Deployment\nname: web\nimage: web:2\nlabels: {a: b}\n'
  const terminal = { ...scriptTerminal(), readInput: async () => new TextEncoder().encode(manifest) }
  expect(await apply.run(invocation(terminal, [], { filename: '-' }), client)).toBe(0)
  expect(terminal.printed).toEqual({ out: 'deployment/web configured\n', err: '  changed: image, labels\n' })
})

test('why of a crash loop names the command for the last output', async () => {
  const failing = {
    replica: 1,
    nodeId: 'node_1',
    nodeName: 'n1',
    revision: 3,
    reason: 'exited',
    cause: 'exited with code 42',
    restarts: 5,
  }
  const shown = async (container: object) => {
    const terminal = scriptTerminal()
    const read = { decidedAt: null, phase: 'Degraded', summary: 'x', candidates: [], cure: [] }
    const client = scriptClient({
      'GET /deployments/web/why?view=groups&limit=500': { ...read, containers: [container] },
    })
    await why.run(invocation(terminal, ['web']), client)
    return terminal.printed.out
  }
  const lastExit = { code: 42, at: '2026-01-31T11:59:57Z' }
  const next = 'next: holdfast logs web --previous\n'
  expect(await shown({ ...failing, lastExit })).toContain(`3s ago, 5 restarts\n${next}`)
  expect(await shown({ ...failing, reason: 'image_unavailable', restarts: 0 })).not.toContain(next)
})
