// Tests with generated bodies that the stored record is the sent body plus the reported alterations, so that nothing is
// altered silently.

import { isDeepStrictEqual } from 'node:util'
import {
  type Alteration,
  type DeploymentRecord,
  type DeploymentSpec,
  isJsonObject,
  type Json,
  type JsonObject,
  READ_ONLY_FIELDS,
} from '@holdfast/contract'
import { arbitraryChange, arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { putAt } from '@holdfast/testkit/images/put-at'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { residencyLabels } from '../scheduling/residency.ts'
import { aRecord, DIGEST, forCreate, forUpdate, IMAGE } from './admission.fixture.ts'
import { checkBody } from './admit-body.ts'
import { admitDeployment } from './admit-deployment.ts'
import type { Normalised } from './normalize/normalise.ts'

const OPTIONS = {
  images: [IMAGE, `registry.example.com/a/b@${DIGEST}`],
  dependencies: ['db', 'cache', 'queue-2'],
  secrets: true,
}
const bodies = arbitraryDeployment(OPTIONS)
const changes = arbitraryChange(OPTIONS)
/** Test timeout, generous because the machine may be busy. On an idle machine a test takes seconds. */
const PATIENCE_MS = 600_000
const WHOLE = { numRuns: inRun(2_000, 10_000) }
const SHORT = { numRuns: inRun(500, 2_000) }

/** Computes the expected spec from sent body, kept record and alterations only, without the code under test. */
function expectedSpec(sent: JsonObject, kept: JsonObject, alterations: readonly Alteration[]): JsonObject {
  const result: JsonObject = structuredClone({ ...kept, ...sent })
  for (const field of READ_ONLY_FIELDS) delete result[field]
  for (const field of Object.keys(result)) if (result[field] === null) delete result[field]
  for (const { code, field, to } of alterations) {
    if (code === 'write_time_material_stripped') takeOut(result, field)
    else if (!BESIDE_THE_SPEC.has(code)) putAt(result, field.split('.'), to)
  }
  return result
}

/** Codes of alterations that do not concern the spec, but other members of the record. */
const BESIDE_THE_SPEC: ReadonlySet<string> = new Set(['read_only_ignored', 'residency_stored_as_label'])

/** The expected residency labels of a record: labels that were kept and labels that the alterations report. */
function expectedLabels(
  { placement }: DeploymentSpec,
  kept: JsonObject,
  alterations: readonly Alteration[],
): JsonObject {
  const { country, region, blockedCountries = [] } = placement?.residency ?? {}
  const demanded = new Set([
    ...(country === undefined ? [] : ['holdfast.io/data-residency-country']),
    ...(region === undefined ? [] : ['holdfast.io/data-residency-region']),
    ...(blockedCountries.length === 0 ? [] : ['holdfast.io/blocked-countries']),
  ])
  const announced = alterations.filter(({ code }) => code === 'residency_stored_as_label')
  const labels: JsonObject = Object.assign({}, kept, ...announced.map(({ to }) => to))
  for (const label of Object.keys(labels)) if (!demanded.has(label)) delete labels[label]
  return labels
}

/** Removes a field such as `secrets[0].values` from a body. */
function takeOut({ secrets }: JsonObject, field: string): void {
  const [, index, key = ''] = /^secrets\[(\d+)\]\.(\w+)$/.exec(field) ?? []
  const entry = Array.isArray(secrets) ? secrets[Number(index)] : undefined
  if (!isJsonObject(entry) || entry[key] === undefined) throw new Error(`nothing to strip at ${field}`)
  delete entry[key]
}

/** Fails if two objects differ. The matcher of the test library is slow, so it is used only after a fast comparison. */
function expectSame(actual: object, expected: object): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected)
}

function accepted(sent: JsonObject, current?: DeploymentRecord): Normalised {
  const verdict = admitDeployment(sent, current === undefined ? forCreate() : forUpdate(current))
  if (!verdict.accepted) throw new Error(`refused: ${JSON.stringify(verdict.rejections)}`)
  return verdict
}

describe('the stored record is the sent body plus the reported alterations', () => {
  test('after a POST', { timeout: PATIENCE_MS }, () => {
    fc.assert(
      fc.property(bodies, (sent) => {
        const { spec, alterations } = accepted(sent)
        expectSame(spec, expectedSpec(sent, {}, alterations))
        expectSame(residencyLabels(spec.placement?.residency), expectedLabels(spec, {}, alterations))
        expect(Object.keys(spec.environment ?? {})).toEqual(Object.keys(sent.environment ?? {}))
        expect(alterations.every(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))).toBe(true)
      }),
      WHOLE,
    )
  })

  test('a PUT keeps fields that were not sent and replaces those that were', { timeout: PATIENCE_MS }, () => {
    fc.assert(
      fc.property(bodies, changes, (body, sent) => {
        const current = aRecord(body)
        // Skips generated changes in which the deployment depends on itself, because these are rejected.
        fc.pre(!Object.hasOwn(Object(sent.dependsOn), current.name))
        const { spec, alterations } = accepted(sent, current)
        expectSame(spec, expectedSpec(sent, { ...current }, alterations))
        const labels = expectedLabels(spec, current.residencyLabels, alterations)
        expectSame(residencyLabels(spec.placement?.residency), labels)
      }),
      SHORT,
    )
  })
})

test('a PUT with the result of GET changes nothing', { timeout: PATIENCE_MS }, () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const current = aRecord(body)
      const sent: JsonObject = JSON.parse(JSON.stringify(current))
      const { spec, alterations, warnings } = accepted(sent, current)
      expectSame({ ...current, ...spec }, current)
      expect(alterations).toEqual([])
      expect(warnings.filter(({ code }) => code !== 'health_check_trivial')).toEqual([])
    }),
    SHORT,
  )
})

test('the same body gives the same spec, and a stored spec is accepted again', {
  timeout: PATIENCE_MS,
}, () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const { spec } = accepted(body)
      expectSame(accepted(JSON.parse(JSON.stringify(spec))).spec, spec)
    }),
    SHORT,
  )
})

const FIELDS = [
  ...['kind', 'name', 'image', 'replicas', 'healthCheck', 'environment', 'placement', 'dependsOn', 'labels'],
  ...[
    'update',
    'resources',
    'limits',
    'volumes',
    'routes',
    'command',
    'stopGracePeriod',
    'status',
    'secrets',
    'composedEnvironment',
    'anything',
  ],
]

/** Generates valid bodies with some parts replaced by arbitrary values. */
const damaged = (base: fc.Arbitrary<JsonObject>): fc.Arbitrary<Json> =>
  fc
    .tuple(base, fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 3 }))
    .map(([body, damage]): Json => JSON.parse(JSON.stringify({ ...body, ...damage })))

const requests = fc.oneof(
  fc.tuple(damaged(bodies), fc.constant(forCreate())),
  fc.tuple(damaged(changes), fc.constant(forUpdate(aRecord()))),
  fc.tuple(
    fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value))),
    fc.constant(forCreate()),
  ),
)

test('any body yields either rejections or a spec, never both, never an exception', {
  timeout: PATIENCE_MS,
}, () => {
  const seen = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(requests, ([sent, context]) => {
      const rejections = checkBody(sent, context)
      const verdict = admitDeployment(sent, context)
      expect(verdict.accepted).toBe(rejections.length === 0)
      expect('spec' in verdict).toBe(rejections.length === 0)
      const texts = rejections.map(({ expected, why }) => expected + why).join()
      expect(texts).not.toMatch(/undefined|\{[a-z]+\}/)
      seen[verdict.accepted ? 'accepted' : 'refused']++
    }),
    { numRuns: inRun(1_000, 5_000) },
  )
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(inRun(40, 200))
})
