// For every rejection of a manifest, the CLI's caret is under the faulty key or value, or under the key that lacks a value.
// The rules that the CLI checks offline reject the same manifests as the platform. Of several documents with one fault,
// none is stored.

import { isDeepStrictEqual } from 'node:util'
import { yamlText } from '@holdfast/cli/print/output'
import { run } from '@holdfast/cli/run'
import { scriptTerminal } from '@holdfast/cli/terminal/scripted-terminal.fixture'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type PathStep,
  type Rejection,
  stepsOf,
} from '@holdfast/contract'
import { checkOffline, locateRejection, parseSource } from '@holdfast/manifest'
import { arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { createRandom } from '@holdfast/testkit/hostile/random'
import { inRun } from '@holdfast/testkit/long-run'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { BODY_PROVOCATIONS } from '@holdfast/testkit/provocations/body-provocations'
import { prepareWorld, provoke, type World } from '@holdfast/testkit/provocations/provoke'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: World
beforeAll(async () => {
  world = await prepareWorld(await ownPlatform())
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

function expectCaret(text: string, name: string, body: JsonObject, rejection: Rejection): void {
  const [manifest] = parseSource({ name, bytes: new TextEncoder().encode(text) }).manifests
  if (manifest === undefined) throw new Error(`no document in ${text}`)
  const steps = stepsOf(rejection.field)
  if (steps.length === 0) return
  const { start, end } = locateRejection(manifest, rejection)
  const under = text.slice(start, end)
  const value = valueAt(body, steps)
  if (value === undefined) expect(parse(under)).toBe(keyFor(body, steps))
  // A colon after the part shows that the key is meant.
  else if (/^\s*:/.test(text.slice(end))) expect(parse(under)).toBe(steps.at(-1))
  // A YAML value over several lines cannot be parsed without its context, so it is not compared.
  else if (typeof value !== 'object' || value === null || name.endsWith('.json'))
    expect(parse(under)).toEqual(value)
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
    for (const rejection of rejections) {
      expectCaret(JSON.stringify(body, null, 2), 'web.json', body, rejection)
      expectCaret(await yamlText(body), 'web.yaml', body, rejection)
    }
    const local: string[] = checkOffline(body).map((rejection) => rejection.code)
    // Only the CLI also lists the faults beside a wrong kind.
    const offline = code === 'manifest_wrong_kind' ? local.slice(0, 1) : local
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
  const COUNT = inRun(120, 5000)

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

describe('apply of several documents', () => {
  const stored = async () => (await world.platform.api(world.platform.acme.token).get(STORED)).text
  const STORED = '/api/v1/deployments?limit=500'

  async function apply(documents: readonly JsonObject[]) {
    const texts = await Promise.all(documents.map((document) => yamlText(document)))
    const readInput = async () => new TextEncoder().encode(texts.join('---\n'))
    const terminal = { ...scriptTerminal(), readInput }
    const { baseUrl, acme } = world.platform
    const env = { HOLDFAST_URL: baseUrl, HOLDFAST_TOKEN: acme.token, HOLDFAST_CONTEXTS_FILE: '/nowhere' }
    const code = await run(['apply', '-f', '-'], env, terminal)
    return { code, ...terminal.printed }
  }

  async function rejectionsAlone(document: JsonObject): Promise<string[]> {
    const { body } = await provoke(world, { path: '/api/v1/dry-run', body: { documents: [document] } })
    const [item]: readonly { rejections?: Rejection[] }[] = Object(body)['items'] ?? []
    return (item?.rejections ?? []).map(({ code, field }) => `${code} at ${field || 'the document'}`)
  }

  const isNeeded = (fault: JsonObject): boolean => fault['name'] === 'probe' && fault['kind'] !== 'Job'

  test('with one random fault stores nothing and lists every fault', async () => {
    const rounds = inRun(15, 500)
    const seed = Date.now() % 2 ** 31
    const random = createRandom(seed)
    const faulty = BODY_PROVOCATIONS.map((row) => row.sent(world)).flatMap(({ method, path, as, body }) => {
      const document: Json = JSON.parse(JSON.stringify(body ?? null))
      const isPlain = method === undefined && path === undefined && as === undefined
      return isPlain && isJsonObject(document) ? [document] : []
    })
    const sound = fc.sample(arbitraryDeployment({ images: [world.platform.image] }), {
      numRuns: 4 * rounds,
      seed,
    })
    const before = await stored()
    const seen = new Set<string>()
    let refused = 0
    for (let round = 0; round < rounds; round += 1) {
      const fault = faulty[random.below(faulty.length)] ?? {}
      const expected = await rejectionsAlone(fault)
      const others = sound.slice(4 * round, 4 * round + 1 + random.below(4)).map(
        (document, at): JsonObject => ({
          ...JSON.parse(JSON.stringify(document)),
          name: `sound-${at}`,
          routes: null,
          // A document that needs the rejected one has no fault of its own; no document can need a job.
          ...(isNeeded(fault) && random.chance(0.3) ? { dependsOn: { probe: 'started' } } : {}),
        }),
      )
      others.splice(random.below(others.length + 1), 0, fault)
      // A fault of a new deployment may be none of an update, as the same name is.
      if (expected.length === 0) continue
      const { code, out, err } = await apply(others)
      const printed = [...err.matchAll(/^stdin:\d+:\d+: (.+)$/gm)].map(([, text]) => text ?? '')
      // Only the CLI also lists the faults beside a wrong kind.
      const isWrongKind = expected.includes('manifest_wrong_kind at kind')
      const listed = isWrongKind ? printed.filter((text) => expected.includes(text)) : printed
      expect({ seed, round, code: code > 0, out, listed: listed.sort() }).toEqual({
        ...{ seed, round, code: true, out: '' },
        listed: expected.sort(),
      })
      refused += 1
      for (const text of expected) seen.add(text.split(' ')[0] ?? '')
    }
    expect(await stored()).toBe(before)
    console.info(`${refused} of ${rounds} manifests of seed ${seed} refused, ${seen.size} codes`)
    expect(refused).toBeGreaterThan(0.9 * rounds)
  }, 600_000)

  test('rejects the same deployment twice, and closes with counts', async () => {
    const document = { kind: 'Deployment', name: 'twice', image: world.platform.image }
    const before = await stored()
    const ran = await apply([document, { ...document, replicas: 2 }])
    expect(ran).toMatchObject({ code: 3, out: '' })
    expect(ran.err).toContain('stdin:6:7: the same deployment as in stdin:2:7\n')
    expect(await stored()).toBe(before)
    const sound = [document, { ...document, name: 'once', replicas: 0 }]
    expect(await apply(sound)).toMatchObject({ code: 0, err: expect.stringMatching(/\n2 created\n$/) })
    expect(await apply([document, { ...document, name: 'once', replicas: 1 }])).toMatchObject({
      code: 0,
      out: 'deployment/twice unchanged\ndeployment/once configured\n',
      err: expect.stringMatching(/^1 unchanged, 1 configured\n$/m),
    })
  })
})
