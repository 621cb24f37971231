// For every rejection of a manifest, the CLI's caret is under the faulty value or under the key that lacks a value. The
// rules that the CLI checks offline reject the same manifests as the platform.

import { isDeepStrictEqual } from 'node:util'
import { locate } from '@holdfast/cli/manifest/locate'
import { parseSource } from '@holdfast/cli/manifest/parse-source'
import { checkOffline } from '@holdfast/cli/manifest/rules'
import { yamlText } from '@holdfast/cli/print/output'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type PathStep,
  type Rejection,
  stepsOf,
} from '@holdfast/contract'
import { arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { startPlatform } from '@holdfast/testkit/platform/start-platform'
import { BODY_PROVOCATIONS } from '@holdfast/testkit/provocations/body-provocations'
import { prepareWorld, provoke, type World } from '@holdfast/testkit/provocations/provoke'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: World
beforeAll(async () => {
  world = await prepareWorld(await startPlatform())
})
afterAll(() => world.platform.stop())

/** Codes that only the server can check, with its settings and records. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  ...[
    'registry_not_allowed',
    'residency_region_undeclared',
    'volume_binding_unavailable',
    'dependency_not_found',
    'dependency_has_no_health_check',
  ],
  ...['image_not_found', 'node_candidates_unresolvable', 'node_not_a_placement_candidate', 'route_conflict'],
  ...['dependency_invalid', 'deployment_exists', 'quota_exceeded', 'registry_credential_store_unavailable'],
])

const rejectionsOf = (body: { [name: string]: unknown }): Rejection[] => Object(body).rejections ?? []

function valueAt(body: Json, steps: readonly PathStep[]): Json | undefined {
  return steps.reduce<Json | undefined>((value, step) => {
    if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined
    return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }, body)
}

/** Name of the key under which the caret must be if a field is missing: the nearest existing parent, or the first key. */
function keyFor(body: JsonObject, steps: readonly PathStep[]): string {
  const missing = steps.findIndex((_, at) => valueAt(body, steps.slice(0, at + 1)) === undefined)
  const last = steps[missing - 1]
  return typeof last === 'string'
    ? last
    : String(Object.keys(Object(valueAt(body, steps.slice(0, missing))))[0])
}

function expectCaret(text: string, name: string, body: JsonObject, field: string): void {
  const [manifest] = parseSource({ name, bytes: new TextEncoder().encode(text) }).manifests
  if (manifest === undefined) throw new Error(`no document in ${text}`)
  const steps = stepsOf(field)
  const { start, end } = locate(manifest.tree, steps)
  const under = text.slice(start, end)
  const value = valueAt(body, steps)
  if (steps.length > 0 && value !== undefined) {
    // A YAML value over several lines cannot be parsed without its context, so it is not compared.
    const isBlock = typeof value === 'object' && value !== null && !name.endsWith('.json')
    if (!isBlock) expect(parse(under)).toEqual(value)
  } else if (steps.length > 0) expect(parse(under)).toBe(keyFor(body, steps))
}

const parse = (text: string): Json =>
  parseSource({ name: 'part.yaml', bytes: new TextEncoder().encode(text) }).manifests[0]?.value ?? null

describe('the caret of a rejection', () => {
  const rows = BODY_PROVOCATIONS.map((row) => [row.code, row.field, row] as const)

  test('is checked for many codes', () =>
    expect(new Set(rows.map(([code]) => code)).size).toBeGreaterThan(25))

  test.each(rows)('is at the right place for %s at %s', async (code, _field, row) => {
    const sent = row.sent(world)
    const answer = await provoke(world, sent)
    const body: Json = JSON.parse(
      typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body ?? null),
    )
    const rejections = rejectionsOf(answer.body)
    expect(rejections.map((rejection) => rejection.code)).toContain(code)
    if (!isJsonObject(body) || sent.method !== undefined) return
    for (const { field } of rejections) {
      expectCaret(JSON.stringify(body, null, 2), 'web.json', body, field)
      expectCaret(await yamlText(body), 'web.yaml', body, field)
    }
    const offline: string[] = checkOffline(body).map((rejection) => rejection.code)
    if (offline.length > 0)
      expect(offline).toEqual(
        answer.codes.filter((each) => !OF_THE_SERVER.has(each) || offline.includes(each)),
      )
    else expect(answer.codes.every((each) => OF_THE_SERVER.has(each))).toBe(true)
  })
})

describe('generated bodies', () => {
  const broken = fc.dictionary(
    fc.constantFrom(
      'name',
      'replicas',
      'healthCheck',
      'environment',
      'placement',
      'update',
      'labels',
      'routes',
      'odd',
    ),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 3 },
  )
  /** Number of requests that are sent concurrently, to save time. */
  const AT_ONCE = 8
  const COUNT = 5000

  const isAlike = (offline: readonly string[], codes: readonly string[]): boolean =>
    offline.length > 0 && codes[0] !== 'body_malformed'
      ? isDeepStrictEqual(
          codes.filter((code) => !OF_THE_SERVER.has(code) || offline.includes(code)),
          offline,
        )
      : codes.every((code) => OF_THE_SERVER.has(code) || code === 'body_malformed')

  test('get the same rejections offline and from the server, in the same order', async () => {
    const seed = Date.now() % 2 ** 31
    const sound = arbitraryDeployment({ images: [world.platform.image] })
    const bodies = fc
      .sample(fc.tuple(sound, broken), { numRuns: COUNT, seed })
      .map(([whole, parts]): Json => JSON.parse(JSON.stringify({ ...whole, ...parts })))
    const unlike: unknown[] = []
    let refused = 0
    const queue = bodies.values()
    const askNext = async (): Promise<void> => {
      for (const body of queue) {
        const { codes } = await provoke(world, { path: '/api/v1/deployments?dryRun=true', body })
        const offline: string[] = checkOffline(body).map(({ code }) => code)
        if (offline.length > 0) refused += 1
        if (!isAlike(offline, codes)) unlike.push({ body, offline, codes })
      }
    }
    const begun = performance.now()
    await Promise.all(Array.from({ length: AT_ONCE }, askNext))
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    console.info(`${COUNT} manifests of seed ${seed}, ${refused} of them refused, in ${seconds} s`)
    expect(unlike.slice(0, 3)).toEqual([])
    expect(refused).toBeGreaterThan(COUNT / 4)
    expect(refused).toBeLessThan(COUNT)
  }, 300_000)
})
