import type { Assignment, AssignmentId, NodeId, Observation, Rollout } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { aRecord, DIGEST, IMAGE } from '../admission/admission.fixture.ts'
import { deriveStatus, type PlacedFacts, type StatusFacts } from './derive-status.ts'

const spec = { ...aRecord(), replicas: 2 }
const fresh = { deleting: false, imageDigest: DIGEST, revision: 1 }

const assigned = (replica: number, desired: Assignment['desired'] = 'running'): Assignment => ({
  id: `rep_${replica}` as AssignmentId,
  nodeId: 'node_1' as NodeId,
  revision: 1,
  replica,
  desired,
  templateHash: 'h',
  assignedAt: '',
})
type Seen = Pick<Observation, 'state' | 'reason' | 'about'>
const seen = (state: Observation['state'], reason = ''): Seen => ({ state, reason })

const two = [assigned(1), assigned(2)]
const status = (
  placed: PlacedFacts,
  observations: readonly (Seen | undefined)[] = [],
  more: Partial<StatusFacts> = {},
) =>
  deriveStatus(spec, {
    ...fresh,
    placed,
    observed: (id) => observations[placed.assignments.findIndex((each) => each.id === id)],
    ...more,
  })
const ready = seen('ready')
const shortfall = { reason: 'unschedulable', summary: '0 of 5 nodes fit.' }

test('a new deployment is pending until the scheduler has planned it', () => {
  expect(deriveStatus(spec, { deleting: false, imageDigest: null })).toEqual({
    phase: 'Pending',
    reason: 'image_unresolved',
    message: expect.stringContaining('registry'),
    replicas: { desired: 2, placed: 0, ready: 0 },
    image: { reference: IMAGE, digest: null },
    runningRevision: null,
  })
  expect(deriveStatus(spec, fresh)).toMatchObject({ phase: 'Pending', reason: 'unscheduled' })
})

describe('the phase of a deployment', () => {
  test.each<[string, ReturnType<typeof status>, object]>([
    [
      'never placed: the summary of the failed placement',
      status({ assignments: [], shortfall }),
      { phase: 'Pending', reason: 'unschedulable', message: shortfall.summary },
    ],
    [
      'the quota is reached',
      status({ assignments: [], shortfall: { ...shortfall, reason: 'quota_reached' } }),
      { phase: 'Pending', reason: 'quota_reached' },
    ],
    ...['residency_enforcement_off', 'residency_no_match'].flatMap(
      (reason): [string, ReturnType<typeof status>, object][] => [
        [
          `${reason}: the deployment waits`,
          status({ assignments: [], shortfall: { ...shortfall, reason } }),
          { phase: 'Waiting', reason, message: shortfall.summary },
        ],
        [
          `${reason} after it ran: a replica is missing`,
          status({ assignments: [assigned(1)], shortfall: { ...shortfall, reason }, ranRevision: 1 }, [
            ready,
          ]),
          { phase: 'Degraded', reason },
        ],
        [
          `${reason} of a successor, while all desired replicas are ready`,
          status({ assignments: two, shortfall: { ...shortfall, reason }, ranRevision: 1 }, [ready, ready]),
          { phase: 'Running', reason: '' },
        ],
      ],
    ),
    [
      'placed in part before it ever ran',
      status({ assignments: [assigned(1)], shortfall }, [ready]),
      { phase: 'Pending', reason: 'unschedulable', replicas: { desired: 2, placed: 1, ready: 1 } },
    ],
    [
      'placed in part after it ran',
      status({ assignments: [assigned(1)], shortfall, ranRevision: 1 }, [ready]),
      { phase: 'Degraded', reason: 'unschedulable' },
    ],
    ['placed', status({ assignments: two }), { phase: 'Progressing', reason: '', runningRevision: null }],
    ['coming up', status({ assignments: two }, [ready, seen('pulling')]), { phase: 'Progressing' }],
    [
      'all ready',
      status({ assignments: two, ranRevision: 1 }, [ready, ready]),
      { phase: 'Running', reason: '', runningRevision: 1, replicas: { desired: 2, placed: 2, ready: 2 } },
    ],
    [
      'one no longer ready',
      status({ assignments: two, ranRevision: 1 }, [ready, seen('running')]),
      { phase: 'Degraded', reason: 'not_ready', runningRevision: 1 },
    ],
    [
      'a newer revision coming up',
      status({ assignments: two, ranRevision: 1 }, [ready, seen('starting')], { revision: 2 }),
      { phase: 'Progressing', runningRevision: 1 },
    ],
    [
      'one in trouble, also before it ever ran',
      status({ assignments: two }, [ready, seen('running', 'unhealthy')]),
      { phase: 'Degraded', reason: 'unhealthy' },
    ],
    [
      'one that was ready and is now unhealthy',
      status({ assignments: two, ranRevision: 1 }, [ready, seen('ready', 'unhealthy')]),
      { phase: 'Degraded', reason: 'unhealthy', replicas: { desired: 2, placed: 2, ready: 1 } },
    ],
    [
      'an image that cannot be pulled',
      status({ assignments: two }, [seen('failed', 'image_pull_failed')]),
      { phase: 'Degraded', reason: 'image_pull_failed' },
    ],
    [
      'scaled up, and not planned yet',
      status({ assignments: [assigned(1)], ranRevision: 1 }, [ready], { revision: 2 }),
      { phase: 'Progressing' },
    ],
  ])('%s', (_what, derived, expected) => expect(derived).toMatchObject(expected))
})

test('a deployment with 0 replicas is stopped, not deleted, when its last container is gone', () => {
  const none = { ...spec, replicas: 0 }
  expect(deriveStatus(none, fresh)).toMatchObject({ phase: 'Stopped', reason: '' })
  const leaving = { assignments: [assigned(1, 'removed')] }
  expect(deriveStatus(none, { ...fresh, placed: leaving })).toMatchObject({
    phase: 'Progressing',
    reason: 'stopping',
    replicas: { desired: 0, placed: 0, ready: 0 },
  })
})

test('the phase Deleting takes precedence, whatever the number of replicas', () => {
  for (const replicas of [0, 3]) {
    expect(deriveStatus({ ...spec, replicas }, { ...fresh, deleting: true })).toMatchObject({
      phase: 'Deleting',
      replicas: { desired: 0, placed: 0, ready: 0 },
      image: { digest: DIGEST },
    })
  }
})

describe('an unresolved secret', () => {
  const entries = ['DB', 'CACHE'].map((name) => ({
    name,
    vault_path: `resources/${name.toLowerCase()}`,
    anchor: 'external',
    rotation: 'restart',
  }))
  const secretive = { ...spec, secrets: entries, composedEnvironment: { URL: '{{secret.db.key}}' } }
  const waits = (about?: string) => ({
    ...seen('starting', 'secret_unresolved'),
    ...(about === undefined ? {} : { about }),
  })
  const derive = (placed: PlacedFacts, observations: readonly (Seen | undefined)[]) =>
    deriveStatus(secretive, {
      ...fresh,
      placed,
      observed: (id) => observations[placed.assignments.findIndex((each) => each.id === id)],
    })
  const degraded = { phase: 'Degraded', reason: 'secret_unresolved' }

  test.each<[string, string]>([
    ['DB: denied', 'Secret DB (resources/db) cannot be read: the policy of the secrets store denies access.'],
    [
      'CACHE: store_unavailable',
      'Secret CACHE (resources/cache) cannot be read: the secrets store does not answer.',
    ],
    [
      'DB: missing',
      'Secret DB (resources/db) has no material. Write it with `holdfast secret set resources/db`; if',
    ],
    [
      'DB: missing_key',
      'lacks a key that a template names. Write it with `holdfast secret set resources/db`, then',
    ],
    [
      'DB: missing_key 2 key URL',
      'Secret DB (resources/db): `key`, which URL uses, is not in version 2. Add it with `holdfast secret set resources/db --add --prompt key`, then run `holdfast rollout restart',
    ],
    // A key or variable that the templates of the deployment do not name is not quoted.
    ['DB: missing_key 2 other URL', 'lacks a key that a template names.'],
    ['CACHE: missing_key 2 key URL', 'lacks a key that a template names.'],
    [
      'DB: replaced',
      'Secret DB (resources/db) is not the version that was written: the secrets store was restored',
    ],
    ['URL: too_large', 'The variable URL makes the environment too large to start a program with.'],
    ['broker_unavailable', 'The secrets cannot be resolved: no server that reads secrets can be reached.'],
    ['no_answer', 'The secrets cannot be resolved: the server did not answer in time.'],
  ])('is explained in the message: %s', (about, text) => {
    const derived = derive({ assignments: two }, [waits(about)])
    expect(derived).toMatchObject({ ...degraded, runningRevision: null })
    expect(derived.message).toContain(text)
    expect(derived.message).toMatch(/ 0 of 2 replicas are ready\.$/)
  })
  test.each([
    undefined,
    '',
    'OTHER: denied',
    'DB: exploded',
    'DB: denied\nx',
    '__proto__',
    'DB: constructor',
  ])('quotes no report that is not a known cause: %o', (about) => {
    const { message } = derive({ assignments: two }, [waits(about)])
    expect(message).toBe(
      'The secrets cannot be resolved: the node did not report why. 0 of 2 replicas are ready.',
    )
  })
  test.each<[string, PlacedFacts, readonly (Seen | undefined)[]]>([
    ['the other replica is ready', { assignments: two, ranRevision: 1 }, [ready, waits('DB: denied')]],
    [
      'the other replica has another problem',
      { assignments: two },
      [seen('running', 'unhealthy'), waits('DB: denied')],
    ],
    ['the other replica finds no node', { assignments: [assigned(1)], shortfall }, [waits('DB: denied')]],
    [
      'the other replica waits for a dependency',
      { assignments: [assigned(1)], shortfall: { reason: 'dependency_unhealthy', summary: 'db' } },
      [waits('DB: denied')],
    ],
    [
      'the replicas that it replaces serve',
      {
        assignments: [...two, { ...assigned(1), id: 'rep_3' as AssignmentId, templateHash: 'new' }],
        ranRevision: 1,
      },
      [ready, ready, waits('DB: denied')],
    ],
  ])('takes precedence over every other problem, when %s', (_, placed, observations) => {
    expect(derive(placed, observations)).toMatchObject({
      ...degraded,
      message: expect.stringContaining('Secret DB'),
    })
  })
  test('is named once for several replicas, and not after it was resolved', () => {
    const three = [...two, { ...assigned(3) }]
    const { message } = derive(
      { assignments: three },
      ['DB: denied', 'CACHE: missing', 'DB: denied'].map(waits),
    )
    expect(message.match(/Secret DB/g)).toHaveLength(1)
    expect(message).toContain('Secret CACHE')
    expect(derive({ assignments: two }, [ready, ready])).toMatchObject({ phase: 'Running' })
  })
  test('is not reported for a replica that is being removed or whose node is lost', () => {
    const going = { assignments: [...two, assigned(3, 'removed')] }
    expect(derive(going, [ready, ready, waits('DB: denied')])).toMatchObject({ phase: 'Running' })
    const lost = { ...fresh, placed: { assignments: two, ranRevision: 1 }, isLost: () => true }
    expect(deriveStatus(secretive, { ...lost, observed: () => waits('DB: denied') })).toMatchObject({
      reason: 'node_lost',
    })
  })
  test('is named in the message of an update that failed because of it', () => {
    const failure = { reason: 'secret_unresolved', replica: 1, at: '' }
    const rollout: Rollout = {
      revision: 2,
      templateHash: 'new',
      since: 2,
      startedAt: '',
      progressedAt: '',
      ready: 0,
      state: 'paused',
      replaces: true,
      failure,
    }
    const { reason, message } = derive({ assignments: two, rollout }, [ready, waits('DB: denied')])
    expect(reason).toBe('update_paused')
    expect(message).toContain('replica 1 did not get its secrets. Secret DB (resources/db) cannot be read')
  })
})

describe('the status during a rollout', () => {
  const rollout: Rollout = {
    revision: 2,
    templateHash: 'n',
    since: 2,
    startedAt: '',
    progressedAt: '',
    ready: 0,
    state: 'progressing',
    replaces: true,
  }
  const lastGood = { revision: 1, templateHash: 'h' }
  const next = (replica: number): Assignment => ({
    ...assigned(replica),
    id: `rep_n${replica}` as AssignmentId,
    templateHash: 'n',
  })
  const ran = { ranRevision: 1, lastGood }
  const at = { revision: 2 }
  const failure = { reason: 'unhealthy', replica: 1, at: '' }

  test.each([
    [
      'counts a number with two replicas once',
      status({ ...ran, rollout, assignments: [...two, next(1)] }, [ready, ready, ready], at),
      {
        phase: 'Progressing',
        reason: 'rollout',
        runningRevision: 1,
        message: expect.stringContaining('1 of 2'),
        replicas: { desired: 2, placed: 2, ready: 2 },
      },
    ],
    [
      'is Running when all replicas are replaced, also during the watch window',
      status({ ...ran, rollout, assignments: [next(1), next(2)] }, [ready, ready], at),
      { phase: 'Running' },
    ],
    [
      'reports why the next replica finds no node, without a replica missing',
      status({ ...ran, rollout, shortfall, assignments: two }, [ready, ready], at),
      { phase: 'Progressing', message: expect.stringContaining('0 of 5 nodes fit.') },
    ],
    [
      'is Degraded while paused, although all replicas are ready',
      status({ ...ran, rollout: { ...rollout, state: 'paused', failure }, assignments: two }, [ready, ready]),
      { phase: 'Degraded', reason: 'update_paused', message: expect.stringContaining('became unhealthy') },
    ],
    [
      'reports the last good revision as the running one after a rollback',
      status(
        {
          ranRevision: 2,
          lastGood,
          rollout: { ...rollout, state: 'rolling_back', failure },
          assignments: two,
        },
        [ready, ready],
      ),
      { phase: 'Degraded', reason: 'rollback', runningRevision: 1 },
    ],
    [
      'is Waiting for another deployment',
      status({
        assignments: [],
        shortfall: { reason: 'dependency_unhealthy', summary: 'Waits for db.' },
      }),
      { phase: 'Waiting', reason: 'dependency_unhealthy', message: 'Waits for db.' },
    ],
  ])('%s', (_what, derived, expected) => expect(derived).toMatchObject(expected))
})

describe('the status of a first revision that failed', () => {
  const failure = { reason: 'exited', replica: 1, cause: 'exited with code 42', at: 'then' }
  const rollout: Rollout = {
    revision: 1,
    templateHash: 'h',
    since: 1,
    startedAt: '',
    progressedAt: '',
    ready: 0,
    state: 'progressing',
    replaces: false,
    failure,
  }

  test('is Degraded with the failure and its cause, also between two runs of the container', () => {
    expect(status({ assignments: two, rollout }, [seen('running'), ready])).toMatchObject({
      phase: 'Degraded',
      reason: 'exited',
      message:
        'Revision 1 failed: replica 1 exited three times. Cause: exited with code 42. It is retried until a new revision is applied. 1 of 2 replicas is ready.',
      failure: { revision: 1, ...failure },
    })
  })

  test('is Running without a failure once the retried replicas are ready', () => {
    const derived = status({ assignments: two, rollout }, [ready, ready])
    expect(derived.phase).toBe('Running')
    expect(derived).not.toHaveProperty('failure')
  })
})

test('a status without a failure quotes why a container fails', () => {
  const failing = { ...seen('ready', 'unhealthy'), cause: 'wget: not found' }
  expect(status({ assignments: two, ranRevision: 1 }, [ready, failing])).toMatchObject({
    phase: 'Degraded',
    reason: 'unhealthy',
    message: '1 of 2 replicas is ready. Replica 2: health check failed: wget: not found.',
  })
})

describe('the status with a lost node', () => {
  const elsewhere = { ...assigned(2), nodeId: 'node_2' as NodeId }
  const lost = { isLost: (id: NodeId) => id === 'node_2' }

  test.each([
    [
      'ignores the last observations of that node',
      status({ assignments: [assigned(1), elsewhere], ranRevision: 1 }, [ready, ready], lost),
      { phase: 'Degraded', reason: 'node_lost', replicas: { desired: 2, placed: 1, ready: 1 } },
    ],
    [
      'is Degraded while a replacement starts',
      status(
        { assignments: [assigned(1), { ...elsewhere, desired: 'removed' }, assigned(2)], ranRevision: 1 },
        [ready, ready, seen('starting')],
        { ...lost, observed: (id) => (id === 'rep_1' ? ready : seen('starting')) },
      ),
      { phase: 'Degraded', reason: 'node_lost' },
    ],
    [
      'names the deployment that a replacement waits for',
      status(
        {
          assignments: [assigned(1), elsewhere],
          ranRevision: 1,
          shortfall: { reason: 'dependency_unhealthy', summary: 'Waits for db.' },
        },
        [ready, ready],
        lost,
      ),
      { phase: 'Degraded', reason: 'node_lost', message: '1 of 2 replicas is ready. Waits for db.' },
    ],
    [
      'is Running once the replica is replaced',
      status({ assignments: [...two, { ...elsewhere, desired: 'removed' }] }, [ready, ready], lost),
      { phase: 'Running' },
    ],
  ])('%s', (_what, derived, expected) => expect(derived).toMatchObject(expected))
})

test('running replicas are not reported as a revision whose image is unresolved', () => {
  const placed = { assignments: two, ranRevision: 1, lastGood: { revision: 1, templateHash: 'h' } }
  const unresolved = status(placed, [ready, ready], { imageDigest: null, revision: 2 })
  expect(unresolved).toMatchObject({
    phase: 'Progressing',
    reason: 'image_unresolved',
    runningRevision: 1,
    message:
      'No registry has resolved the image yet, so the previous revision keeps running. 2 of 2 replicas are ready.',
  })
  const degraded = status(placed, [ready, seen('ready', 'unhealthy')], { imageDigest: null, revision: 2 })
  expect(degraded).toMatchObject({ phase: 'Degraded', reason: 'unhealthy' })
})

test('the last good revision is reported once a rollout has finished', () => {
  const lastGood = { revision: 4, templateHash: 'h' }
  expect(status({ assignments: two, ranRevision: 5, lastGood }, [ready, ready])).toMatchObject({
    runningRevision: 5,
    lastGoodRevision: 4,
  })
  expect(status({ assignments: two, ranRevision: 1 }, [ready, ready])).not.toHaveProperty('lastGoodRevision')
})

test('an old replica that is stopped before its successor starts is a step of the rollout', () => {
  const rollout: Rollout = {
    revision: 2,
    templateHash: 'h2',
    since: 2,
    startedAt: '',
    progressedAt: '',
    ready: 0,
    state: 'progressing',
    replaces: true,
  }
  const step = (assignments: Assignment[]) =>
    status({ assignments, rollout, ranRevision: 1 }, [ready, ready], { revision: 2 })
  const text = 'Revision 2 is being rolled out; the replicas that it replaces are stopped first.'
  expect(step([assigned(1, 'removed'), assigned(2)])).toMatchObject({
    phase: 'Progressing',
    reason: 'rollout',
    message: `1 of 2 replicas is placed. ${text} 1 container is still being stopped.`,
  })
  expect(step([assigned(1, 'removed'), assigned(2, 'removed')])).toMatchObject({
    phase: 'Progressing',
    reason: 'rollout',
    message: `${text} 2 containers are still being stopped.`,
  })
})
