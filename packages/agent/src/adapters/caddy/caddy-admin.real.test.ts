// The Caddy adapter on a real Caddy: serves the given backends, survives a kill of Caddy, and changes a thousand routes
// quickly.

import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Route } from '@holdfast/contract'
import { freePort, type StandaloneCaddy, startCaddy, startLoad, waitUntil } from '@holdfast/testkit'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Backend, RouterAdmin } from '../../ports/router.ts'
import type { CaddySettings } from '../../ports/router-settings.ts'
import { createCaddyAdmin } from './caddy-admin.ts'

/** Changes of a replica, and of a route, that are measured among a thousand routes. */
const CHANGES = inRun(15, 100)

let caddy: StandaloneCaddy
let admin: RouterAdmin
let settings: CaddySettings
let edge: string
let peer: string
const servers: Server[] = []
/** Functions that send the answers to requests with `slow` in the path; the test server delays these answers. */
const held: (() => void)[] = []

/** The names of headers that programs may read as those of the router. */
const shadowing = (headers: IncomingHttpHeaders): string[] | undefined => {
  const names = Object.keys(headers).filter(
    (name) => /^(x.forwarded|holdfast)/.test(name) && name.includes('_'),
  )
  return names.length === 0 ? undefined : names
}

/** A web server that answers with its own name and the request headers it received. */
async function backendServer(name: string, address = '127.0.0.1', port = 0): Promise<number> {
  const server = createServer((received, response) => {
    const body = {
      name,
      hop: received.headers['holdfast-hop'],
      for: received.headers['x-forwarded-for'],
      seen: shadowing(received.headers),
    }
    const respond = (): void => void response.end(JSON.stringify(body))
    if (received.url?.includes('slow')) held.push(respond)
    else respond()
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  return (server.address() as AddressInfo).port
}

/** Applies the backends as the agent's router does: writes the upstream files, then loads the configuration. */
async function apply(backends: readonly Backend[]): Promise<void> {
  await admin.writeUpstreams(backends)
  await admin.load(backends)
}

const route = (host: string, path: string, port: number): Route => ({
  host,
  path,
  port,
})
const backend = (name: string, port: number, over: Partial<Backend> = {}): Backend => ({
  name,
  routes: [route(`${name}.test`, '/', port)],
  local: ['127.0.0.1'],
  peers: [],
  ...over,
})

async function get(url: string, host: string, headers: { [name: string]: string } = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    request(url, { headers: { host, ...headers }, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (part) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
      .on('error', reject)
      .end()
  })
}

beforeAll(async () => {
  caddy = await startCaddy()
  const [edgePort, peerPort] = [await freePort(), await freePort()]
  edge = `http://127.0.0.1:${edgePort}`
  peer = `http://127.0.0.1:${peerPort}`
  settings = {
    listen: [`127.0.0.1:${edgePort}`],
    peerListen: `127.0.0.1:${peerPort}`,
    adminSocket: caddy.socketPath,
    upstreamsFolder: join(dirname(caddy.configFile), 'upstreams'),
    tls: { mode: 'off' },
  }
  admin = createCaddyAdmin(settings, caddy.configFile)
})
afterAll(async () => {
  for (const server of servers) server.close()
  await caddy.remove()
})

describe('Caddy', () => {
  test('routes by host and by the longest matching path on segment borders, and answers 404 for other hosts', async () => {
    const [web, api] = [await backendServer('web'), await backendServer('api')]
    await apply([
      { ...backend('web', web), routes: [route('x.test', '/', web), route('x.test', '/api/v2/web', web)] },
      { ...backend('api', api), routes: [route('x.test', '/api', api)] },
    ])
    const whose = async (path: string): Promise<string> =>
      JSON.parse((await get(`${edge}${path}`, 'x.test')).text).name
    expect(await Promise.all(['/', '/apix', '/api', '/api/x', '/API', '/api/v2/web/x'].map(whose))).toEqual([
      'web',
      'web',
      'api',
      'api',
      'api',
      'web',
    ])
    expect(await get(edge, 'other.test')).toEqual({ status: 404, text: 'Not Found\n' })
  })

  test('routes one host to several ports of a container', async () => {
    const [one, two] = [await backendServer('one'), await backendServer('two')]
    await apply([
      { ...backend('web', one), routes: [route('x.test', '/', one), route('x.test', '/two', two)] },
    ])
    expect((await get(`${edge}/two/x`, 'x.test')).text).toContain('two')
    expect((await get(`${edge}/twox`, 'x.test')).text).toContain('one')
  })

  test('answers 503 for a deployment without a replica and reveals nothing else', async () => {
    await apply([backend('web', 80, { local: [] })])
    expect(await get(edge, 'web.test')).toEqual({ status: 503, text: 'Service Unavailable\n' })
  })

  test('ignores forwarding headers of clients and accepts them from nodes', async () => {
    const web = await backendServer('web')
    await apply([backend('web', web)])
    const sent = { 'holdfast-hop': '2', 'x-forwarded-for': '9.9.9.9' }
    expect(JSON.parse((await get(edge, 'web.test', sent)).text)).toEqual({ name: 'web', for: '127.0.0.1' })
    expect(JSON.parse((await get(peer, 'web.test', sent)).text)).toEqual({
      name: 'web',
      for: '9.9.9.9, 127.0.0.1',
    })
  })

  test('drops headers of clients that programs may read as forwarding headers', async () => {
    const web = await backendServer('web')
    await apply([backend('web', web)])
    const names = ['X_Forwarded_For', 'x-forwarded_proto', 'X_FORWARDED-HOST', 'holdfast_hop']
    const sent = { ...Object.fromEntries(names.map((name) => [name, 'x'])), other_name: 'kept' }
    expect(JSON.parse((await get(edge, 'web.test', sent)).text)).toEqual({ name: 'web', for: '127.0.0.1' })
  })

  test('forwards to another node with an increased hop count, at most three times', async () => {
    const other = await backendServer('other')
    await apply([backend('web', 80, { local: [], peers: [`127.0.0.1:${other}`] })])
    const hop = async (url: string, sent?: string): Promise<string> => {
      const { status, text } = await get(url, 'web.test', sent === undefined ? {} : { 'holdfast-hop': sent })
      return status === 200 ? JSON.parse(text).hop : String(status)
    }
    expect([await hop(edge), await hop(edge, '3'), await hop(peer)]).toEqual(['1', '1', '1'])
    expect([await hop(peer, '1'), await hop(peer, '2'), await hop(peer, '3')]).toEqual(['2', '3', '503'])
  })

  test('skips a replica that refuses connections', async () => {
    const web = await backendServer('web', '127.0.0.2')
    await apply([backend('web', web, { local: ['127.0.0.2', '127.0.0.3'] })])
    for (let count = 0; count < 20; count += 1) expect((await get(edge, 'web.test')).status).toBe(200)
  })
})

test('redirects plain ports to TLS with its own certificates, and serves peers without TLS', async () => {
  const web = await backendServer('web')
  const secure = await freePort()
  const tls = createCaddyAdmin(
    { ...settings, listen: [`127.0.0.1:${secure}`], tls: { mode: 'internal' } },
    caddy.configFile,
  )
  await tls.writeUpstreams([backend('web', web)])
  await tls.load([backend('web', web)])
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = {
        servername: 'web.test',
        headers: { host: 'web.test' },
        rejectUnauthorized: false,
        agent: false,
      }
      requestSecurely(`https://127.0.0.1:${secure}`, options, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
  await waitUntil(async () => (await ask()) === 200, { what: 'it is served with a certificate' })
  expect((await get(peer, 'web.test')).status).toBe(200)
})

test('a rejected Caddy configuration is reported, and the previous one stays in use', async () => {
  const web = await backendServer('web')
  await apply([backend('web', web)])
  const bad = { ...backend('bad', web), routes: [route('x.test', '/bad*path', web)] }
  await expect(admin.load([bad, { ...bad, name: 'bad' }])).rejects.toMatchObject({ fault: 'refused' })
  expect((await get(edge, 'web.test')).status).toBe(200)
})

test('a killed Caddy restarts with its last configuration, which can be read back', async () => {
  const web = await backendServer('web')
  await apply([backend('web', web)])
  const before = caddy.pid
  const begun = performance.now()
  await caddy.kill()
  await waitUntil(async () => (await get(edge, 'web.test')).status === 200, { what: 'it serves again' })
  process.stdout.write(`Caddy serves again ${Math.round(performance.now() - begun)} ms after its end\n`)
  expect(caddy.pid).not.toBe(before)
  expect(await admin.readUpstreams()).toEqual(new Map([['web', ['127.0.0.1']]]))
})

test('an unreachable Caddy is unavailable and not refusing', async () => {
  const away = createCaddyAdmin({ ...settings, adminSocket: '/nowhere/admin.sock' }, caddy.configFile)
  await expect(away.load([])).rejects.toMatchObject({ fault: 'unavailable' })
})

test('requests in flight are counted, also after their upstream was withdrawn', async () => {
  const web = await backendServer('web')
  await apply([backend('web', web)])
  const slow = get(`${edge}/slow`, 'web.test')
  const inFlight = async (): Promise<number> => (await admin.requestsInFlight()).get(`127.0.0.1:${web}`) ?? 0
  await waitUntil(async () => (await inFlight()) === 1, { what: 'it is in flight' })
  await apply([backend('web', web, { local: [] })])
  expect(await inFlight()).toBe(1)
  for (const respond of held.splice(0)) respond()
  expect((await slow).status).toBe(200)
  await waitUntil(async () => (await inFlight()) === 0, { what: 'it is answered' })
})

test('replicas that come and go break no request and no connection', { timeout: 60_000 }, async () => {
  const port = await backendServer('web', '127.0.0.2')
  await backendServer('web', '127.0.0.3', port)
  await apply([backend('web', port, { local: ['127.0.0.2'] })])
  const load = startLoad({ targets: [edge, peer], host: 'web.test', perSecond: 300 })
  const turns = [['127.0.0.2', '127.0.0.3'], ['127.0.0.3'], ['127.0.0.2']]
  const times: number[] = []
  for (let count = 0; count < 60; count += 1) {
    const begun = performance.now()
    await apply([backend('web', port, { local: turns[count % 3] ?? [] })])
    times.push(performance.now() - begun)
    await waitUntil(() => load.result().sent > (count + 1) * 20, { what: 'more was sent' })
  }
  const { sent, failures, reconnects, slowestMs } = await load.stop()
  process.stdout.write(
    `${times.length} changes at 300/s: ${sent} sent, ${failures.length} failed, ${reconnects} reconnects, slowest ${slowestMs} ms; a change takes ${spread(times)} ms\n`,
  )
  expect({ failures, reconnects }).toEqual({ failures: [], reconnects: 0 })
})

const spread = (times: readonly number[]): string => {
  const inOrder = times.toSorted((a, b) => a - b)
  const at = (part: number): number => Math.round(inOrder[Math.ceil(part * inOrder.length) - 1] ?? 0)
  return `${at(0.5)} (half), ${at(0.99)} (99 of 100)`
}

test('changes a replica or a route among a thousand routes', { timeout: 120_000 }, async () => {
  const port = await backendServer('web')
  const many = (local: string, host = 'web.test'): Backend[] =>
    Array.from({ length: 1000 }, (_, at) =>
      at === 500
        ? backend('web', port, { local: [local], routes: [route(host, '/', port)] })
        : backend(`web-${at}`, 8080, { local: [`10.208.${at >> 8}.${at & 255}`] }),
    )
  const measure = async (backends: (count: number) => Backend[]): Promise<string> => {
    const times: number[] = []
    for (let count = 0; count < CHANGES; count += 1) {
      const desired = backends(count)
      const begun = performance.now()
      await apply(desired)
      times.push(performance.now() - begun)
    }
    return spread(times)
  }
  const begun = performance.now()
  await apply(many('127.0.0.1'))
  const first = Math.round(performance.now() - begun)
  const replica = await measure((count) => many(`127.0.0.${1 + (count % 2)}`))
  const changed = await measure((count) => many('127.0.0.1', `web.${count}.test`))
  process.stdout.write(
    `1,000 routes, ${CHANGES} changes: all ${first} ms; a replica ${replica} ms; a route ${changed} ms${LONG ? '' : '; 100 changes in the long run'}\n`,
  )
  expect((await get(edge, `web.${CHANGES - 1}.test`)).status).toBe(200)
})
