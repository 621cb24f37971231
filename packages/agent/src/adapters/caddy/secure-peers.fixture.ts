// Routers of several nodes on this machine, each a real Caddy, and clients that pretend to be one of them.

import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, request as requestPlainly, type Server } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { freePorts, type StandaloneCaddy, startCaddy } from '@holdfast/testkit'
import type { Backend, PeerRouter, PeerSecurity, RouterAdmin, RouterIdentity } from '../../ports/router.ts'
import type { CaddySettings } from '../../ports/router-settings.ts'
import { makeRouterCertificate, readRouterCertificate } from '../../routing/router-certificate.ts'
import { createCaddyAdmin } from './caddy-admin.ts'

const DAY_MS = 86_400_000

export interface Keys extends RouterIdentity {
  readonly name: string
  /** The certificate as base64 of DER. */
  readonly base64: string
}

/** Keys of a router, made as the agent makes them. With `key`, a further certificate over the same key. */
export function newKeys(key?: string): Keys {
  const own =
    key === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
      : createPrivateKey(key)
  const base64 = makeRouterCertificate(own, Date.now() + DAY_MS)
  const { name = '', pem = '' } = readRouterCertificate(base64) ?? {}
  return { name, base64, certificate: pem, key: own.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

export interface TestRouter {
  readonly keys: Keys
  readonly caddy: StandaloneCaddy
  readonly admin: RouterAdmin
  readonly settings: CaddySettings
  readonly edge: string
  /** The `host:port` for other nodes by plain HTTP and by TLS. */
  readonly plain: string
  readonly secure: string
  /** This router as another node knows it. */
  readonly asPeer: PeerRouter
  apply(backends: readonly Backend[], security?: PeerSecurity): Promise<void>
}

export async function startRouter(tls: CaddySettings['tls'] = { mode: 'off' }): Promise<TestRouter> {
  const caddy = await startCaddy()
  const [edgePort, plainPort, securePort] = await freePorts(3)
  const keys = newKeys()
  const [plain, secure] = [`127.0.0.1:${plainPort}`, `127.0.0.1:${securePort}`]
  const settings: CaddySettings = {
    listen: [`127.0.0.1:${edgePort}`],
    peerListen: plain,
    securePeerListen: secure,
    adminSocket: caddy.socketPath,
    upstreamsFolder: join(dirname(caddy.configFile), 'upstreams'),
    tls,
  }
  const admin = createCaddyAdmin(settings, caddy.configFile)
  return {
    keys,
    caddy,
    admin,
    settings,
    edge: `http://127.0.0.1:${edgePort}`,
    plain,
    secure,
    asPeer: { plainAddress: plain, address: secure, name: keys.name, certificates: [keys.base64] },
    async apply(backends, security) {
      await admin.writeUpstreams(backends)
      await admin.load(backends, security)
    },
  }
}

export const trusting = (
  own: RouterIdentity,
  peers: readonly PeerRouter[],
  acceptPlain = false,
): PeerSecurity => ({
  identity: { key: own.key, certificate: own.certificate },
  acceptPlain,
  peers,
})

export interface Answered {
  readonly status: number
  readonly text: string
}

const read = (answer: IncomingMessage): Promise<Answered> =>
  new Promise((resolve, reject) => {
    let text = ''
    answer.on('data', (part) => {
      text += part
    })
    answer.on('error', reject)
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
  })

export const ask = (url: string, host: string, headers: { [name: string]: string } = {}): Promise<Answered> =>
  new Promise((resolve, reject) => {
    requestPlainly(url, { headers: { host, ...headers }, agent: false }, (answer) => resolve(read(answer)))
      .on('error', reject)
      .end()
  })

interface TlsOptions extends Pick<RequestOptions, 'maxVersion'> {
  /** A ticket of an earlier session to resume. */
  readonly session?: Buffer
  /** Receives the tickets of this session. */
  readonly tickets?: Buffer[]
}

/** Sends a request to the TLS port of a router as a client with these keys; without keys, with no certificate. */
export function askSecurely(
  { secure, keys }: Pick<TestRouter, 'secure' | 'keys'>,
  client: RouterIdentity | undefined,
  { tickets, ...options }: TlsOptions = {},
): Promise<Answered> {
  const shown = client === undefined ? {} : { key: client.key, cert: client.certificate }
  const trust = { servername: keys.name, ca: keys.certificate, agent: false, ...shown }
  return new Promise((resolve, reject) => {
    const headers = { host: 'web.test', 'holdfast-hop': '1', 'x-forwarded-for': '9.9.9.9' }
    request(`https://${secure}`, { ...trust, headers, ...options }, (answer) => resolve(read(answer)))
      .on('error', reject)
      .on('socket', (socket) => socket.on('session', (ticket: Buffer) => tickets?.push(ticket)))
      .end()
  })
}

export interface Web {
  readonly port: number
  /** The number of requests that reached the server. */
  count(): number
  close(): void
}

/** A web server that answers with the headers that it received. */
export async function startWeb(): Promise<Web> {
  let count = 0
  const server: Server = createServer(({ headers, url }, answer) => {
    count += 1
    const { host, 'holdfast-hop': hop, 'x-forwarded-for': from, 'x-forwarded-proto': proto } = headers
    const forwardedHost = headers['x-forwarded-host']
    answer.end(JSON.stringify({ host, hop, from, proto, forwardedHost, url }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, count: () => count, close: () => void server.close() }
}
