import { deploymentBodyShape } from '@holdfast/contract'
import { arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../limits.ts'
import { aBody, aRecord, forCreate, forUpdate, IMAGE, summary } from './admission.fixture.ts'
import { checkBody, judgeBody } from './admit-body.ts'
import { normalise } from './normalize/normalise.ts'

const FIELDS = Object.keys(deploymentBodyShape.fields).filter((name) => name !== 'kind')
const mount = { volume: 'vol_01JCPZ0000000000000000000A', target: '/data', type: 'volume', readOnly: false }

describe('checkBody', () => {
  test.each([[null], [5], ['x'], [[]], [true]])(
    'rejects %j, which is not an object, with an empty field',
    (sent) => {
      expect(summary(checkBody(sent, forCreate()))).toEqual(['field_type_invalid '])
    },
  )

  test.each([[undefined], [null], ['Job'], [''], [5], ['deployment']])(
    'kind %j is the only rejection',
    (kind) => {
      const sent = aBody({ kind, name: 'Bad!', replicas: -1, unknown: 1 })
      expect(summary(checkBody(sent, forCreate()))).toEqual(['manifest_wrong_kind kind'])
    },
  )

  test('limits the number of rejections', () => {
    const flood = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]))
    const rejections = checkBody(aBody(flood), forCreate())
    expect(rejections).toHaveLength(DEFAULT_LIMITS.rejections)
  })

  test('does not check the elements of a list that is too long', () => {
    const environment = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`x-${index}`, 'v']))
    expect(summary(checkBody(aBody({ environment }), forCreate()))).toEqual(['list_too_long environment'])
  })

  test('reports fields that the role may not send first', () => {
    const context = forCreate({ forbiddenFields: new Set(['environment']) })
    expect(summary(checkBody(aBody({ x: 1, environment: {} }), context))).toEqual([
      'permission_denied environment',
      'field_unknown x',
    ])
  })

  test('accepts mounts if volumes are enabled', () => {
    expect(checkBody(aBody({ volumes: [mount] }), forCreate({ volumesEnabled: true }))).toEqual([])
  })

  test('checks the range of whole numbers above 2^53', () => {
    const sent = {
      ...aBody(),
      replicas: 2n ** 60n,
      resources: { cpuMillis: 2n ** 60n },
      update: { parallelism: 2n ** 60n },
    }
    expect(summary(checkBody(sent, forCreate()))).toEqual([
      'replicas_out_of_range replicas',
      'resources_invalid resources.cpuMillis',
      'update_invalid update.parallelism',
    ])
  })
})

describe('the valid part of a body with faults', () => {
  test('has every field without a fault, and the valid entries of dependsOn', () => {
    const sent = aBody({
      replicas: -1,
      volumes: [mount],
      nodeId: 'node_x',
      dependsOn: { db: 'started', 'B!': 'started' },
      x: 1,
    })
    const { valid } = judgeBody(sent, forCreate())
    expect(valid?.fields).toEqual(aBody({ nodeId: 'node_x', dependsOn: { db: 'started' } }))
    expect([...(valid?.faulty ?? [])].sort()).toEqual(['replicas', 'volumes', 'x'])
  })

  test.each([[null], [{ kind: 'Job' }]])('does not exist for %j', (sent) =>
    expect(judgeBody(sent, forCreate()).valid).toBeUndefined(),
  )

  test('can always be made a spec', () =>
    fc.assert(
      fc.property(
        arbitraryDeployment({ images: [IMAGE], dependencies: ['db'], secrets: true }),
        fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
        (body, broken) => {
          const sent = JSON.parse(JSON.stringify({ ...body, ...broken }))
          const fields = judgeBody(sent, forCreate()).valid?.fields
          if (fields !== undefined)
            normalise({ kind: 'Deployment', name: '', image: '', ...fields }, undefined)
        },
      ),
      { numRuns: inRun(100, 5000) },
    ))
})

describe('checkBody of an update', () => {
  const record = aRecord(aBody({ dependsOn: { db: 'healthy' }, environment: { A: 'x' } }))
  const judge = (sent: { [field: string]: unknown }, overrides = {}) =>
    summary(checkBody(JSON.parse(JSON.stringify(sent)), forUpdate(record, overrides)))

  test.each<[{ [field: string]: unknown }, ...string[]]>([
    [{}],
    [{ replicas: 0 }],
    [{ kind: 'Job' }, 'manifest_wrong_kind kind'],
    [{ kind: null }, 'manifest_wrong_kind kind'],
    [{ name: 'web' }],
    [{ name: 'other' }, 'deployment_name_invalid name'],
    [{ name: null }, 'name_required name'],
    [{ image: null }, 'image_required image'],
    [{ healthCheck: null, environment: null, replicas: null, update: null }],
    [{ dependsOn: { web: 'started' } }, 'dependency_invalid dependsOn.web'],
    [
      {
        uid: record.uid,
        revision: 7,
        specHash: 'x',
        createdAt: '',
        updatedAt: null,
        status: {},
        residencyLabels: {},
      },
    ],
    [{ uid: 'dep_01JCPZ0000000000000000000B' }, 'field_read_only uid'],
    [{ healthCheck: { type: 'exec' } }, 'healthcheck_command_missing healthCheck.command'],
  ])('%j', (sent, ...expected) => {
    expect(judge(sent)).toEqual(expected)
  })

  test('checks the body alone if there is no record', () => {
    const context = forCreate({ mode: 'update', pathName: 'web' })
    expect(
      summary(checkBody(aBody({ uid: 'x', replicas: -1, dependsOn: { web: 'started' } }), context)),
    ).toEqual(['replicas_negative replicas', 'dependency_invalid dependsOn.web'])
  })

  test('lets a deployment scale although its image is no longer allowed', () => {
    expect(judge({ replicas: 0 }, { registries: new Set(['elsewhere.example.com:443']) })).toEqual([])
  })
})
