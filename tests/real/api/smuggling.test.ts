// Request smuggling: messages whose end two parsers could see at different places. Such a message gets at most one
// response, a 400 that closes the connection. Bytes after the message are never executed; a valid request before it is
// answered.

import { refusalFault } from '@holdfast/testkit/hostile/check-refusal'
import { exchangeAlone, openRawConnection } from '@holdfast/testkit/hostile/raw-connection'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.stop())

const POST = 'POST /api/v1/deployments HTTP/1.1'
/** The request that a second parser would see after the first message. This request must never be executed. */
const smuggled = () => `DELETE /api/v1/deployments/standing HTTP/1.1\r\n${head()}Content-Length: 0\r\n\r\n`
const head = () => `Host: a\r\nAuthorization: Bearer ${platform.acme.token}\r\n`
const port = () => platform.config.listen.port

async function standing(): Promise<void> {
  const api = platform.api(platform.acme.token)
  await api.post('/api/v1/deployments', { kind: 'Deployment', name: 'standing', image: platform.image })
}

type Row = readonly [what: string, message: () => string]

/** Malformed messages, which are answered with 400 before the connection closes. */
const BROKEN: readonly Row[] = [
  [
    'Content-Length and Transfer-Encoding',
    () => `${POST}\r\n${head()}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'Transfer-Encoding and Content-Length',
    () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
  ],
  ['two Content-Lengths', () => `${POST}\r\n${head()}Content-Length: 0\r\nContent-Length: 2\r\n\r\n{}`],
  [
    'the same Content-Length twice',
    () => `${POST}\r\n${head()}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
  ],
  ['a list of Content-Lengths', () => `${POST}\r\n${head()}Content-Length: 2, 2\r\n\r\n{}`],
  ['a signed Content-Length', () => `${POST}\r\n${head()}Content-Length: +2\r\n\r\n{}`],
  ['a negative Content-Length', () => `${POST}\r\n${head()}Content-Length: -2\r\n\r\n{}`],
  ['a hexadecimal Content-Length', () => `${POST}\r\n${head()}Content-Length: 0x2\r\n\r\n{}`],
  ['an endless Content-Length', () => `${POST}\r\n${head()}Content-Length: 99999999999999999999\r\n\r\n{}`],
  ['an empty Content-Length', () => `${POST}\r\n${head()}Content-Length: \r\n\r\n`],
  ['a folded header', () => `${POST}\r\n${head()}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['a folded name', () => `${POST}\r\n${head()}X-A: b\r\n\tContent-Length: 2\r\n\r\n{}`],
  ['a space before the colon', () => `${POST}\r\n${head()}Content-Length : 2\r\n\r\n{}`],
  ['a space in a header name', () => `${POST}\r\n${head()}Content Length: 2\r\n\r\n{}`],
  ['a space before a header', () => `${POST}\r\n Content-Length: 2\r\n${head()}\r\n{}`],
  ['a control character in a name', () => `${POST}\r\n${head()}Transfer\u0001Encoding: chunked\r\n\r\n`],
  ['a NUL in a value', () => `${POST}\r\n${head()}X-A: b\u0000c\r\n\r\n`],
  ['a bare LF after the request line', () => `${POST}\n${head()}\r\n`],
  ['a bare LF between headers', () => `${POST}\r\nHost: a\nX-A: b\r\n${head()}\r\n`],
  ['bare LFs at the end', () => `${POST}\r\nHost: a\r\nX-A: b\n\n`],
  ['a bare CR in a header', () => `${POST}\r\n${head()}X-A: b\rTransfer-Encoding: chunked\r\n\r\n`],
  ['a header without a colon', () => `${POST}\r\n${head()}Transfer-Encoding\r\n\r\n`],
  ['a header without a name', () => `${POST}\r\n${head()}: chunked\r\n\r\n`],
  ['another coding last', () => `${POST}\r\n${head()}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
  ['chunks inside chunks', () => `${POST}\r\n${head()}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ['an unknown coding', () => `${POST}\r\n${head()}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  [
    'a chunk of a huge size',
    () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunk of a negative size',
    () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunk size with 0x',
    () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunk longer than declared',
    () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n`,
  ],
  ['chunks with bare LFs', () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n`],
  [
    'a chunk extension with a bare LF',
    () => `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\n2;a\nb\r\n{}\r\n0\r\n\r\n`,
  ],
  ['no method', () => ` /api/v1/deployments HTTP/1.1\r\n${head()}\r\n`],
  ['no such method', () => `BREW /api/v1/deployments HTTP/1.1\r\n${head()}\r\n`],
  ['no such protocol', () => `GET /api/v1/deployments HTTPS/1.1\r\n${head()}\r\n`],
  ['no such version', () => `GET /api/v1/deployments HTTP/11.1\r\n${head()}\r\n`],
  ['another protocol', () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
  ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
]

describe('a message that cannot be parsed', () => {
  test.each(BROKEN)('is answered with one 400 that closes the connection: %s', async (_what, message) => {
    await standing()
    const before = await dumpTenants(platform)
    const { answers, closed, stray } = await exchangeAlone(port(), `${message()}${smuggled()}`, {
      answers: Number.POSITIVE_INFINITY,
      timeoutMs: 5_000,
    })
    expect(answers.map(({ status }) => status)).toEqual([400])
    expect(answers.map((answer) => refusalFault(answer, platform.baseUrl))).toEqual([undefined])
    expect({ closed, stray }).toEqual({ closed: true, stray: '' })
    expect(await dumpTenants(platform)).toEqual(before)
  })
})

/** Headers that are rejected with an error code after the whole message was parsed; the next request is separate. */
const REFUSED: readonly (readonly [what: string, header: string, code: string])[] = [
  ['a coding inside chunks', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding'],
  [
    'two Transfer-Encodings',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding',
  ],
  ['a compressed body', 'Transfer-Encoding: chunked\r\nContent-Encoding: gzip', 'Content-Encoding'],
  ['two hosts', 'Transfer-Encoding: chunked\r\nHost: b', 'Host'],
  [
    'two Content-Types',
    'Transfer-Encoding: chunked\r\nContent-Type: application/json\r\nContent-Type: text/plain',
    'Content-Type',
  ],
  ['an expectation', 'Transfer-Encoding: chunked\r\nExpect: 200-ok', 'Expect'],
]

describe('a message that is parsed and rejected', () => {
  test.each(REFUSED)('names the header: %s', async (_what, header, field) => {
    const { answers } = await exchangeAlone(
      port(),
      `${POST}\r\n${head()}${header}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    )
    expect(answers.map(({ status }) => status)).toEqual([400])
    expect(JSON.parse(answers[0]?.text ?? '{}')).toMatchObject({ code: 'header_invalid', field })
  })

  test('two Authorization headers are no credential, in either order', async () => {
    const request = `GET /api/v1/deployments HTTP/1.1\r\n${head()}Authorization: Bearer other\r\n\r\n`
    const { answers } = await exchangeAlone(port(), request)
    expect(answers.map(({ status }) => status)).toEqual([401])
  })

  test.each([
    ['GET', 'Content-Length: 5\r\n\r\nhello'],
    ['GET', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['DELETE', 'Content-Length: 5\r\n\r\nhello'],
  ])('a %s with a body is rejected', async (method, rest) => {
    const { answers } = await exchangeAlone(
      port(),
      `${method} /api/v1/deployments/x HTTP/1.1\r\n${head()}${rest}`,
    )
    expect(answers.map(({ status, text }) => [status, JSON.parse(text).code])).toEqual([
      [400, 'body_malformed'],
    ])
  })

  test('chunk extensions are skipped, and endless ones close the connection', async () => {
    const chunked = (extension: string) =>
      `${POST}\r\n${head()}Transfer-Encoding: chunked\r\n\r\n2;${extension}\r\n{}\r\n0\r\n\r\n`
    const legal = await exchangeAlone(port(), chunked('a=b'))
    expect(legal.answers.map(({ status }) => status)).toEqual([422])
    const endless = await exchangeAlone(port(), `${chunked('a'.repeat(20_000))}${smuggled()}`, {
      answers: Number.POSITIVE_INFINITY,
      timeoutMs: 5_000,
    })
    expect(endless.answers.map(({ status }) => status)).toEqual([413])
    expect(endless.closed).toBe(true)
  })

  test('headers over 16 KiB are answered 431 and close the connection', async () => {
    const request = `GET /api/v1/deployments HTTP/1.1\r\n${head()}X-A: ${'a'.repeat(17_000)}\r\n\r\n`
    const { answers, closed } = await exchangeAlone(port(), request, { answers: Number.POSITIVE_INFINITY })
    expect({ statuses: answers.map(({ status }) => status), closed }).toEqual({
      statuses: [431],
      closed: true,
    })
  })

  test('a body that is too large is answered without being read', async () => {
    const body = 'a'.repeat(3 * 1024 * 1024)
    const request = `${POST}\r\n${head()}Content-Length: ${body.length}\r\n\r\n${body}`
    const { answers, closed } = await exchangeAlone(port(), request, { answers: Number.POSITIVE_INFINITY })
    expect(answers.map(({ status, text }) => [status, JSON.parse(text).code])).toEqual([
      [413, 'body_too_large'],
    ])
    expect(closed).toBe(true)
  })
})

describe('pipelined requests', () => {
  const create = (name: string) => {
    const body = JSON.stringify({ kind: 'Deployment', name, image: platform.image })
    return `${POST}\r\n${head()}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }

  test('are answered in order', async () => {
    await standing()
    const requests = [create('first'), create('standing'), `GET /healthz HTTP/1.1\r\n${head()}\r\n`].join('')
    const { answers } = await exchangeAlone(port(), requests, { answers: 3 })
    expect(answers.map(({ status }) => status)).toEqual([201, 409, 200])
  })

  test('are answered when garbage follows', async () => {
    const { answers, closed } = await exchangeAlone(port(), `${create('second')}GARBAGE\r\n\r\n`, {
      answers: Number.POSITIVE_INFINITY,
      timeoutMs: 5_000,
    })
    expect(answers.map(({ status }) => status)).toEqual([201])
    expect(closed).toBe(true)
  })

  test('a body longer than declared is not run as a second request, and the first gets its own response', async () => {
    const { answers, closed } = await exchangeAlone(port(), `${create('third')}{"kind":"Deployment"}`, {
      answers: Number.POSITIVE_INFINITY,
      timeoutMs: 5_000,
    })
    expect(answers.map(({ status }) => status)).toEqual([201])
    expect(closed).toBe(true)
  })

  test('a request that breaks off is not executed', async () => {
    const complete = create('fourth')
    const { answers } = await exchangeAlone(port(), complete.slice(0, -5), {
      half: true,
      answers: Number.POSITIVE_INFINITY,
      timeoutMs: 5_000,
    })
    expect(answers.filter(({ status }) => status < 400)).toEqual([])
    const read = await platform.api(platform.acme.token).get('/api/v1/deployments/fourth')
    expect(read.status).toBe(404)
  })
})

test('a head that arrives byte by byte is ended after ten seconds', async () => {
  const connection = openRawConnection(port())
  const dripping = setInterval(() => connection.write('X'), 500)
  const { answers, closed } = await connection.exchange('GET /api/v1/deployments HTTP/1.1\r\nX-Slow: ', {
    answers: Number.POSITIVE_INFINITY,
    timeoutMs: 50_000,
  })
  clearInterval(dripping)
  connection.close()
  expect({ statuses: answers.map(({ status }) => status), closed }).toEqual({ statuses: [408], closed: true })
  expect(platform.server.http.server).toMatchObject({ headersTimeout: 10_000 })
})
