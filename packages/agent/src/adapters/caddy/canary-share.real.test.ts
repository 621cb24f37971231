// The share of a canary on a real Caddy: it equals the weight for any number of replicas, changes without a reload, and no
// request fails when no replica of the canary can be dialed.

import { Agent, createServer, request, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import { freePort, type StandaloneCaddy, startCaddy } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Backend, Pool, RouterAdmin } from '../../ports/router.ts'
import { createCaddyAdmin } from './caddy-admin.ts'

/** The full size is for `npm run long`; the bounds of the shorter run are as improbable to miss. */
const REQUESTS = inRun(2_000, 20_000)
const [LOWEST, HIGHEST] = [inRun(7, 8) / 100, inRun(13, 12) / 100]
const AT_ONCE = 16
const UNREACHABLE = '127.9.9.9'

let caddy: StandaloneCaddy
let admin: RouterAdmin
let edge: string
let peer: string
let port: number
const servers: Server[] = []
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

/** Replicas on this machine have the same port and different addresses, as containers have. */
async function startReplicas(): Promise<void> {
  for (let at = 1; at <= 8; at += 1) {
    const name = at <= 3 ? 'canary' : 'stable'
    const server = createServer((received, response) =>
      response.end(`${name} ${received.headers['holdfast-pool'] ?? ''}`),
    )
    await new Promise<void>((resolve) => server.listen(port, `127.1.0.${at}`, resolve))
    servers.push(server)
  }
}

beforeAll(async () => {
  caddy = await startCaddy()
  port = await freePort()
  const [edgePort, peerPort] = [await freePort(), await freePort()]
  edge = `http://127.0.0.1:${edgePort}`
  peer = `127.0.0.1:${peerPort}`
  admin = createCaddyAdmin(
    {
      listen: [`127.0.0.1:${edgePort}`],
      peerListen: peer,
      adminSocket: caddy.socketPath,
      upstreamsFolder: join(dirname(caddy.configFile), 'upstreams'),
      tls: { mode: 'off' },
    },
    caddy.configFile,
  )
  await startReplicas()
})
afterAll(async () => {
  agent.destroy()
  for (const server of servers) server.close()
  await caddy.remove()
})

const stable = (count: number): string[] => Array.from({ length: count }, (_, at) => `127.1.0.${at + 4}`)
const canaries = (count: number): string[] => Array.from({ length: count }, (_, at) => `127.1.0.${at + 1}`)
const web = (pool: Partial<Pool>, canary?: Partial<Pool>, weight = 10): Backend => ({
  name: 'web',
  routes: [{ host: 'web.test', path: '/', port }],
  local: [],
  peers: [],
  ...pool,
  ...(canary === undefined ? {} : { canary: { weight, local: [], peers: [], ...canary } }),
})

async function get(url: string, headers: { [name: string]: string } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host: 'web.test', ...headers }, agent }, (answer) => {
      let text = ''
      answer.on('data', (part) => {
        text += part
      })
      answer.on('end', () => resolve(answer.statusCode === 200 ? text : `failed with ${answer.statusCode}`))
    })
      .on('error', reject)
      .end()
  })
}

/** How often each answer was received. */
async function ask(count: number, url = edge, headers = {}): Promise<Map<string, number>> {
  const answers = new Map<string, number>()
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const answer = (await get(url, headers)).trim()
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return answers
}

test.each([
  [1, 1],
  [1, 5],
  [3, 2],
])('of all requests, a tenth reaches a canary with %d replicas beside %d others', async (few, many) => {
  const backend = web({ local: stable(many) }, { local: canaries(few) })
  await admin.writeUpstreams([backend])
  await admin.load([backend])
  const answers = await ask(REQUESTS)
  const share = (answers.get('canary') ?? 0) / REQUESTS
  console.info(
    `canary with ${few} of ${few + many} replicas: ${(100 * share).toFixed(2)} % of ${REQUESTS} requests`,
  )
  expect(new Set(answers.keys())).toEqual(new Set(['canary', 'stable']))
  expect(share).toBeGreaterThan(LOWEST)
  expect(share).toBeLessThan(HIGHEST)
})

test('a canary starts and ends without a reload', async () => {
  const without = web({ local: stable(2) })
  await admin.writeUpstreams([without])
  await admin.load([without])
  expect([...(await ask(200)).keys()]).toEqual(['stable'])
  await admin.writeUpstreams([web({ local: stable(2) }, { local: canaries(1) }, 50)])
  expect(new Set((await ask(200)).keys())).toEqual(new Set(['canary', 'stable']))
  await admin.writeUpstreams([without])
  expect([...(await ask(200)).keys()]).toEqual(['stable'])
})

test('no request fails if no replica of the canary can be dialed', async () => {
  const backend = web({ local: stable(2) }, { local: [UNREACHABLE] }, 50)
  await admin.writeUpstreams([backend])
  await admin.load([backend])
  expect([...(await ask(400)).keys()]).toEqual(['stable'])
  const away = web({ local: stable(2) }, { peers: ['127.9.9.9:9'] }, 50)
  await admin.writeUpstreams([away])
  expect([...(await ask(100)).keys()]).toEqual(['stable'])
})

test('a router draws no second time for a forwarded request, and believes no client', async () => {
  const backend = web({ local: stable(2) }, { local: canaries(1) }, 10)
  await admin.writeUpstreams([backend])
  await admin.load([backend])
  const forwarded = `http://${peer}`
  expect([...(await ask(100, forwarded, { 'Holdfast-Pool': 'canary' })).keys()]).toEqual(['canary'])
  expect([...(await ask(200, forwarded, { 'Holdfast-Pool': 'stable' })).keys()]).toEqual(['stable'])
  expect(new Set((await ask(200, edge, { 'Holdfast-Pool': 'canary' })).keys())).toEqual(
    new Set(['canary', 'stable']),
  )
})
