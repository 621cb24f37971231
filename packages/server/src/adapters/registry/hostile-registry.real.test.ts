// Tests the registry client against hostile registries. A sinkhole server listens at each address to which a registry
// tries to lure the client; no connection may reach it. See docs/design/threats.md#threats

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ManifestAnswer, RegistryEntry } from '../../ports/registry.ts'
import { secret } from '../../ports/secret.ts'
import { createRegistryClient } from './registry-client.ts'

const CANARY = 'canary-password-7391'
const account = { username: 'robot', password: secret(CANARY) }
const MANIFEST = '{"schemaVersion":2}'
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`
const OTHER_DIGEST = `sha256:${'1'.repeat(64)}`

let servers: Server[] = []
let sinkhole: { host: string; requests: IncomingMessage[]; connections: number }

function portOf(server: { address(): unknown }): number {
  const { port }: { port?: unknown } = Object(server.address())
  return Number(port)
}

beforeEach(async () => {
  servers = []
  const requests: IncomingMessage[] = []
  const host = await listen((request, response) => {
    requests.push(request)
    response.end(JSON.stringify({ token: 'granted' }))
  })
  sinkhole = { host, requests, connections: 0 }
  servers[0]?.on('connection', () => {
    sinkhole.connections += 1
  })
})
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `127.0.0.1:${portOf(server)}`
}

type Answer = (request: IncomingMessage, response: ServerResponse, host: string) => void

async function ask(
  answer: Answer,
  options: { reference?: string; entry?: Partial<RegistryEntry>; deadlineMs?: number } = {},
): Promise<ManifestAnswer> {
  let host = ''
  host = await listen((request, response) => answer(request, response, host))
  const entry = { host, plainHttp: true, allowAddress: true, ...options.entry }
  const client = createRegistryClient({ allowList: [entry], deadlineMs: options.deadlineMs ?? 3000 })
  const query = { host, repository: 'team/app', reference: options.reference ?? '1' }
  const found = await client.checkManifest(query, account)
  client.close()
  return found
}

const challenge =
  (realm: string): Answer =>
  (_request, response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="x"` }).end()
  }

test.each([
  ['another host', (host: string) => `http://${host}/token`],
  ['another host, without a path', (host: string) => `http://${host}`],
  ['userinfo before another host', (host: string) => `http://user:pass@${host}/token`],
  ['a backslash', (host: string) => `http:\\\\${host}/token`],
  ['no scheme', (host: string) => `//${host}/token`],
  ['a metadata address', () => 'http://169.254.169.254/latest/meta-data/'],
  ['another scheme', () => 'file:///etc/passwd'],
  ['HTTPS beside a plain registry', (host: string) => `https://${host}/token`],
  ['a name that only starts like the host', (host: string) => `http://${host}.example.com/token`],
  ['an empty realm', () => ''],
])('a token realm with %s is rejected before a packet is sent', async (_name, realm) => {
  const found = await ask(challenge(realm(sinkhole.host)))
  const cause = expect.stringMatching(/^(realm_refused|challenge_invalid)$/)
  expect(found).toEqual({ kind: 'unreachable', cause })
  expect(sinkhole.connections).toBe(0)
})

test.each(['?x=1', '#x', '/../admin', '/a b', '/%2e%2e/x'])(
  'a token realm on the registry host with %j is rejected',
  async (tail) => {
    const seen: string[] = []
    const found = await ask((request, response, host) => {
      seen.push(request.url ?? '')
      challenge(`http://${host}/token${tail}`)(request, response, host)
    })
    expect(found).toEqual({ kind: 'unreachable', cause: 'realm_refused' })
    expect(seen).toHaveLength(1)
  },
)

test('a token realm on the registry host issues a token for the requested scope, and only that token is sent to the registry', async () => {
  const seen: { url: string | undefined; authorization: string | undefined }[] = []
  const found = await ask((request, response, host) => {
    const authorization = request.headers.authorization
    seen.push({ url: request.url, authorization })
    if (request.url?.startsWith('/token')) response.end(JSON.stringify({ token: 'granted' }))
    else if (authorization === 'Bearer granted') response.setHeader('docker-content-digest', DIGEST).end()
    else {
      const line = `Bearer realm="http://${host}/token",service="s",scope="repository:other/private:pull,push"`
      response.writeHead(401, { 'www-authenticate': line }).end()
    }
  })
  expect(found).toEqual({ kind: 'exists', digest: DIGEST })
  const basic = `Basic ${Buffer.from(`robot:${CANARY}`).toString('base64')}`
  expect(seen).toEqual([
    { url: '/v2/team/app/manifests/1', authorization: undefined },
    { url: '/token?scope=repository%3Ateam%2Fapp%3Apull&service=s', authorization: basic },
    { url: '/v2/team/app/manifests/1', authorization: 'Bearer granted' },
  ])
})

test('a token realm that the allow-list entry names receives the credential', async () => {
  const found = await ask(
    (request, response) => {
      if (request.headers.authorization === 'Bearer granted')
        response.setHeader('docker-content-digest', DIGEST).end()
      else challenge(`http://${sinkhole.host}/token`)(request, response, '')
    },
    { entry: { tokenRealms: [sinkhole.host] } },
  )
  expect(found).toEqual({ kind: 'exists', digest: DIGEST })
  expect(sinkhole.requests).toHaveLength(1)
})

test.each([301, 302, 303, 307, 308])('a redirect with %i is not followed', async (status) => {
  const found = await ask((_request, response) => {
    response.writeHead(status, { location: `http://${sinkhole.host}/v2/` }).end()
  })
  expect(found).toEqual({ kind: 'unreachable', cause: 'redirect' })
  expect(sinkhole.connections).toBe(0)
})

test('a redirect of a token server is not followed', async () => {
  const found = await ask((request, response, host) => {
    if (request.url?.startsWith('/token'))
      response.writeHead(302, { location: `http://${sinkhole.host}/` }).end()
    else challenge(`http://${host}/token`)(request, response, host)
  })
  expect(found).toEqual({ kind: 'unreachable', cause: 'redirect' })
  expect(sinkhole.connections).toBe(0)
})

test.each([
  [400, 'answer_invalid'],
  [403, 'forbidden'],
  [429, 'rate_limited'],
  [500, 'server_error'],
  [503, 'server_error'],
])('a registry that answers %i is unreachable with the cause %s', async (status, cause) => {
  expect(await ask((_request, response) => response.writeHead(status).end())).toEqual({
    kind: 'unreachable',
    cause,
  })
})

test('a 404 without a registry error code is not reported as absent', async () => {
  const page: Answer = (_request, response) => response.writeHead(404).end('<html>not here</html>')
  expect(await ask(page)).toEqual({ kind: 'unreachable', cause: 'answer_invalid' })
  const known: Answer = (_request, response) =>
    response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
  expect(await ask(known)).toEqual({ kind: 'absent' })
  const denied: Answer = (_request, response) => response.writeHead(404).end('{"errors":[{"code":"DENIED"}]}')
  expect(await ask(denied)).toEqual({ kind: 'unreachable', cause: 'answer_invalid' })
})

test('the check of a silent or very slow registry ends at the deadline', async () => {
  const silent: Answer = () => {}
  const drip: Answer = (request, response) => {
    if (request.method === 'HEAD') return response.end()
    const timer = setInterval(() => response.write(' '), 20)
    response.once('close', () => clearInterval(timer))
    return undefined
  }
  for (const answer of [silent, drip]) {
    // Without a deadline the check of the image would never end.
    expect(await ask(answer, { deadlineMs: 300 })).toEqual({ kind: 'unreachable', cause: 'timeout' })
  }
})

test('the deadline applies to the whole check, not to each of its requests', async () => {
  const slow: Answer = (request, response, host) => {
    setTimeout(() => {
      if (request.url?.startsWith('/token')) response.end('{"token":"t"}')
      else if (request.headers.authorization === undefined)
        challenge(`http://${host}/token`)(request, response, host)
      else response.end()
    }, 150)
  }
  // Only a deadline for the whole check can expire here, because each single request is answered within 400 ms.
  expect(await ask(slow, { deadlineMs: 400 })).toEqual({ kind: 'unreachable', cause: 'timeout' })
})

test('an endless response body is cut at the size limit', async () => {
  let sent = 0
  const flood: Answer = (request, response) => {
    if (request.method === 'HEAD') return response.end()
    const chunk = Buffer.alloc(256 * 1024, 0x20)
    const more = (): void => {
      while (!response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) break
      }
    }
    response.on('drain', more)
    more()
    return undefined
  }
  expect(await ask(flood)).toEqual({ kind: 'unreachable', cause: 'too_large' })
  expect(sent).toBeLessThan(32 * 1024 * 1024)
})

test('a response with oversized headers is invalid', async () => {
  const found = await ask((_request, response) => {
    response.writeHead(200, { 'x-long': 'a'.repeat(100_000) }).end()
  })
  expect(found).toEqual({ kind: 'unreachable', cause: 'answer_invalid' })
})

test('a HEAD response without a digest falls back to the hash of the body', async () => {
  const plain: Answer = (_request, response) => response.end(MANIFEST)
  expect(await ask(plain)).toEqual({ kind: 'exists', digest: DIGEST })
  expect(await ask(plain, { reference: DIGEST })).toEqual({ kind: 'exists', digest: DIGEST })
})

test('a digest that differs from the requested one or from the hash of the body is a mismatch', async () => {
  const lie: Answer = (_request, response) =>
    response.setHeader('docker-content-digest', OTHER_DIGEST).end(MANIFEST)
  const mismatch = { kind: 'unreachable', cause: 'digest_mismatch' }
  expect(await ask(lie, { reference: DIGEST })).toEqual(mismatch)
  const bytesOnly: Answer = (_request, response) => response.end(MANIFEST)
  expect(await ask(bytesOnly, { reference: OTHER_DIGEST })).toEqual(mismatch)
  const lateLie: Answer = (request, response) => {
    if (request.method === 'GET') response.setHeader('docker-content-digest', OTHER_DIGEST)
    response.end(MANIFEST)
  }
  expect(await ask(lateLie)).toEqual(mismatch)
  const malformed: Answer = (_request, response) =>
    response.setHeader('docker-content-digest', 'sha256:zz').end(MANIFEST)
  expect(await ask(malformed)).toEqual({ kind: 'exists', digest: DIGEST })
})

test.each(['', 'Basic realm="a", Bearer realm="b"', 'Negotiate x', 'Bearer realm="a\tb"'])(
  'a registry challenge %j is not answered',
  async (line) => {
    let requests = 0
    const found = await ask((_request, response) => {
      requests += 1
      response.writeHead(401, line === '' ? {} : { 'www-authenticate': line }).end()
    })
    expect(found).toEqual({ kind: 'unreachable', cause: 'challenge_invalid' })
    expect(requests).toBe(1)
  },
)

test.each(['{}', '[]', 'null', 'not json', '{"token":7}', '{"token":"a\\nb"}', '{"token":""}'])(
  'a token response %s is rejected',
  async (body) => {
    const found = await ask((request, response, host) => {
      if (request.url?.startsWith('/token')) response.end(body)
      else challenge(`http://${host}/token`)(request, response, host)
    })
    expect(found).toEqual({ kind: 'unreachable', cause: 'answer_invalid' })
  },
)

test('retries once on a new connection if the registry has closed a kept one', async () => {
  const used = new Set<unknown>()
  let dropped = 0
  const host = await listen((request, response) => {
    if (used.has(request.socket)) {
      dropped += 1
      return request.socket.destroy()
    }
    used.add(request.socket)
    // The fake registry sends a length, because Node keeps the connection of a HEAD request open only with a length.
    return response.writeHead(200, { 'docker-content-digest': DIGEST, 'content-length': 5 }).end()
  })
  const client = createRegistryClient({ allowList: [{ host, plainHttp: true, allowAddress: true }] })
  const query = { host, repository: 'team/app', reference: '1' }
  for (let round = 0; round < 3; round += 1) {
    expect(await client.checkManifest(query)).toEqual({ kind: 'exists', digest: DIGEST })
  }
  expect(dropped).toBe(2)
  client.close()
})
