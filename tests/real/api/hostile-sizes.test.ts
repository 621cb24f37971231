// A request body of one mebibyte that is expensive to check blocks the event loop for less than 100 ms and gets a
// response of a reasonable size.

import { exchangeAlone } from '@holdfast/testkit/hostile/raw-connection'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/hostile/start-server-process'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
let server: ServerProcess
beforeAll(async () => {
  platform = await startPlatform()
  server = await startServerProcess(platform)
})
afterAll(async () => {
  await server.stop()
  await platform.stop()
})

const ROOM = 1024 * 1024 - 1000
const MAX_STALL_MS = 100
const MAX_ANSWER_BYTES = 256 * 1024

const deployment = (rest: string): string =>
  `{"kind":"Deployment","name":"x","image":"a.example/a:1",${rest}}`
const filled = (unit: string, before: string, after: string): string =>
  deployment(before + unit.repeat(Math.floor(ROOM / Buffer.byteLength(unit))) + after)
const members = (value: string, count = Math.floor(ROOM / (10 + value.length))): string =>
  Array.from({ length: count }, (_, at) => `"K${at}":${value}`).join(',')
/** 19,000 JSON members: slightly fewer values than the 20,000 that the server accepts in one body. */
const fewer = (value: string): string => members(value, 19_000)

/** JSON fragments that look like the start of a secret or of a pattern, so that a naive search would be quadratic. */
const UNITS = ['@', 'aa@', ' ', 'eyJaaaaaaaa.', '://a:', 'hf_', 'password=', '\\u0000']

const BODIES: readonly (readonly [what: string, body: string])[] = [
  ['elements of a list', filled('"x",', '"command":[', '"x"]')],
  ['empty objects', filled('{},', '"secrets":[', '{}]')],
  ['brackets', filled('[', '"labels":', '')],
  ['digits', filled('1', '"replicas":', '')],
  ...['environment', 'labels', 'dependsOn', 'status', 'zz'].map(
    (field) => [`members of ${field}`, deployment(`"${field}":{${fewer('"v"')}}`)] as const,
  ),
  ['unknown fields', deployment(fewer('1'))],
  ['too many unknown fields', deployment(members('1'))],
  ...UNITS.flatMap(
    (unit) =>
      [
        [`${JSON.stringify(unit)} in environment`, filled(unit, '"environment":{"A":"', '"}')],
        [`${JSON.stringify(unit)} in a label`, filled(unit, '"labels":{"a":"', '"}')],
        [`${JSON.stringify(unit)} in an unknown field`, filled(unit, '"zz":"', '"')],
        [`${JSON.stringify(unit)} as a key`, filled(unit, '"', '":1')],
        [`${JSON.stringify(unit)} as the image`, `{"kind":"Deployment","image":"${unit.repeat(ROOM / 12)}"}`],
      ] as const,
  ),
]

async function measure(method: string, path: string, token: string, body: string) {
  const request = `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  let stallMs = Number.POSITIVE_INFINITY
  let bytes = 0
  // The faster of two runs is used, to measure the body and not the load of the machine.
  for (let round = 0; round < 2; round += 1) {
    const { answers } = await exchangeAlone(server.port, request)
    stallMs = Math.min(stallMs, (await server.health()).worstStallMs)
    bytes = answers[0]?.raw.length ?? 0
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 422])])
  }
  return { stallMs, bytes }
}

test('a deployment of one mebibyte blocks the event loop only briefly', async () => {
  const slow: string[] = []
  let worst = 0
  for (const [what, body] of BODIES) {
    const { stallMs, bytes } = await measure('POST', '/api/v1/deployments', platform.acme.token, body)
    worst = Math.max(worst, stallMs)
    if (stallMs > MAX_STALL_MS || bytes > MAX_ANSWER_BYTES)
      slow.push(`${what}: ${Math.round(stallMs)} ms, ${bytes} bytes`)
  }
  console.log(`bodies of a mebibyte: ${BODIES.length} kinds, worst stall ${worst.toFixed(1)} ms`)
  expect(slow).toEqual([])
})

test('other records of one mebibyte block the event loop only briefly', async () => {
  const { acme, platformToken, registryHost } = platform
  const many = `{${fewer('1')}}`
  const rows = [
    ['POST', `/api/v1/tenants/${acme.id}/tokens`, acme.token, many],
    ['POST', `/api/v1/tenants/${acme.id}/tokens`, acme.token, `{"name":"${'a@'.repeat(ROOM / 2)}"}`],
    ['PATCH', `/api/v1/tenants/${acme.id}`, platformToken, `{"quotas":${many}}`],
    ['POST', '/api/v1/tenants', platformToken, many],
    ['PUT', `/api/v1/registries/${registryHost}/credential`, acme.token, many],
    ['PUT', `/api/v1/registries/${registryHost}/credential`, acme.token, `{"${'a@'.repeat(ROOM / 2)}":1}`],
  ] as const
  const slow: string[] = []
  for (const [method, path, token, body] of rows) {
    const { stallMs, bytes } = await measure(method, path, token, body)
    if (stallMs > MAX_STALL_MS || bytes > MAX_ANSWER_BYTES)
      slow.push(`${method} ${path} ${body.slice(0, 20)}: ${Math.round(stallMs)} ms, ${bytes} bytes`)
  }
  expect(slow).toEqual([])
})
