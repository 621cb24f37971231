// A small node for the test that no route serves another deployment's container: a real Caddy, the agent's router and
// address assignment, and one small web server per container on its own loopback address.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import {
  type AssignmentId,
  type DeploymentUid,
  decode,
  ownerOf,
  type RoutedDeployment,
  routedDeploymentShape,
} from '@holdfast/contract'
import { type CaddyService, freePort, freePorts, startCaddy, waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { callAdmin } from '../adapters/caddy/admin-call.ts'
import { createCaddyAdmin } from '../adapters/caddy/caddy-admin.ts'
import type { RouterAdmin } from '../ports/router.ts'
import { type Addresses, createAddresses } from './addresses.ts'
import type { LocalReplica } from './plan-backends.ts'
import { createRouteTable } from './route-table.ts'
import { type Router, startRouter } from './router.ts'

/** A small subnet, so that addresses are reused often. */
const SUBNET = '127.77.0.0/28'
const ASK_MS = 4000

export interface Container {
  readonly holder: AssignmentId
  readonly id: string
  readonly deployment: DeploymentUid
  readonly name: string
  readonly address: string
  state: LocalReplica['state']
  readonly servers: readonly Server[]
}

export interface Answer {
  readonly status: number
  readonly text: string
}

/** A simulated agent process and its in-memory state. */
interface Life {
  readonly router: Router
  readonly addresses: Addresses
  /** Simulates SIGKILL: after the given number of calls no further call is made, and calls in progress end. */
  kill(afterCalls: number): Promise<void>
}

export interface SmallNode {
  readonly caddy: CaddyService
  readonly ports: readonly number[]
  readonly containers: Map<AssignmentId, Container>
  readonly table: Map<DeploymentUid, RoutedDeployment>
  /** Milliseconds that the agent's clock is ahead of real time. */
  aheadMs: number
  life(): Life
  /** Sends the agent the complete set of routes again. */
  sendRoutes(): void
  restartAgent(afterCalls: number): Promise<void>
  create(holder: AssignmentId, deployment: DeploymentUid, name: string): Promise<void>
  /** Removes the container at once, without a drain. */
  vanish(holder: AssignmentId): void
  ask(host: string, path: string): Promise<Answer | undefined>
  /** Reads from Caddy, for each deployment by name, the hosts of its route and its upstream files. */
  readConfig(): Promise<{ name: string; text: string }[]>
  /** Reads hosts and upstream files of each deployment from the configuration file that Caddy starts from. */
  readSavedConfig(): { name: string; text: string }[]
  /** Reads the lines of all upstream files, with the names of their deployments. */
  readUpstreamLines(): { name: string; line: string }[]
  close(): Promise<void>
}

export async function startSmallNode(): Promise<SmallNode> {
  const caddy = await startCaddy()
  const [edgePort, ports] = [await freePort(), await freePorts(2)]
  const upstreamsFolder = join(dirname(caddy.configFile), 'upstreams')
  const settings = {
    listen: [`127.0.0.1:${edgePort}`],
    peerListen: undefined,
    adminSocket: caddy.socketPath,
    upstreamsFolder,
    tls: { mode: 'off' as const },
  }
  const newAdmin = (): RouterAdmin => createCaddyAdmin(settings, caddy.configFile)
  const containers = new Map<AssignmentId, Container>()
  const table = new Map<DeploymentUid, RoutedDeployment>()
  let routes = createRouteTable()
  let count = 0
  const sendRoutes = (): void => routes.apply({ complete: true, routes: [...table.values()] })
  const begin = (): Life => {
    routes = createRouteTable()
    sendRoutes()
    return beginLife(newAdmin(), routes.all, containers, () => performance.now() + node.aheadMs)
  }
  const node: SmallNode = {
    caddy,
    ports,
    containers,
    table,
    aheadMs: 0,
    life: () => life,
    sendRoutes() {
      sendRoutes()
      life.router.nudge()
    },
    async restartAgent(afterCalls) {
      life.router.nudge()
      await life.kill(afterCalls)
      for (const one of containers.values()) if (one.state === 'serves') one.state = 'unverified'
      life = begin()
    },
    async create(holder, deployment, name) {
      const address = takeAddress(life.addresses, holder)
      if (address === undefined) return
      count += 1
      const servers = await Promise.all(ports.map((port) => serve(`${name} ${deployment}`, address, port)))
      containers.set(holder, { holder, id: `c${count}`, deployment, name, address, state: 'out', servers })
    },
    vanish(holder) {
      for (const server of containers.get(holder)?.servers ?? []) {
        server.close()
        server.closeAllConnections()
      }
      containers.delete(holder)
      life.addresses.release(holder)
    },
    ask: (host, path) => ask(edgePort, host, path),
    readConfig: () => readConfig(caddy.socketPath),
    readSavedConfig: () => readSavedConfig(caddy.configFile),
    readUpstreamLines: () => readUpstreamLines(upstreamsFolder),
    async close() {
      await life.kill(0)
      for (const holder of containers.keys()) node.vanish(holder)
      rmSync(upstreamsFolder, { recursive: true, force: true })
      await caddy.remove()
    },
  }
  let life = begin()
  return node
}

/** Assigns an address; undefined if no address is free. */
function takeAddress(addresses: Addresses, holder: AssignmentId): string | undefined {
  try {
    return addresses.assign(holder)
  } catch {
    return undefined
  }
}

function beginLife(
  admin: RouterAdmin,
  table: () => readonly RoutedDeployment[] | undefined,
  containers: ReadonlyMap<AssignmentId, Container>,
  monotonicMs: () => number,
): Life {
  const mortal = makeMortal(admin)
  const router = startRouter({
    admin: mortal.admin,
    table,
    replicas: () =>
      [...containers].map(([assignmentId, { deployment, id, address, state }]) => ({
        owner: ownerOf('deployment', deployment),
        assignmentId,
        run: id,
        address,
        state,
      })),
    monotonicMs,
    log: pino({ level: 'silent' }),
  })
  const addresses = createAddresses(router.routedLately)
  addresses.setSubnet(SUBNET)
  addresses.setSeen(
    [...containers.values()].map(({ address }) => address),
    () => true,
  )
  return {
    router,
    addresses,
    async kill(afterCalls) {
      await mortal.die(afterCalls)
      router.close()
    },
  }
}

function makeMortal(admin: RouterAdmin): { admin: RouterAdmin; die(afterCalls: number): Promise<void> } {
  const underWay = new Set<Promise<unknown>>()
  let left = Number.POSITIVE_INFINITY
  const wrap =
    <A extends readonly unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      left -= 1
      if (left < 0) throw new Error('the agent is dead')
      const call = work(...given)
      underWay.add(call)
      try {
        return await call
      } finally {
        underWay.delete(call)
      }
    }
  return {
    admin: {
      readUpstreams: wrap(admin.readUpstreams),
      writeUpstreams: wrap(admin.writeUpstreams),
      load: wrap(admin.load),
      probe: wrap(admin.probe),
      requestsInFlight: wrap(admin.requestsInFlight),
    },
    async die(afterCalls) {
      left = afterCalls
      do await Promise.allSettled(underWay)
      while (underWay.size > 0)
      left = 0
    },
  }
}

async function serve(text: string, address: string, port: number): Promise<Server> {
  const server = createServer((_, answer) => answer.end(text))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, resolve)
  })
  return server
}

/** Sends a request to Caddy; undefined if Caddy gave no answer. */
function ask(port: number, host: string, path: string): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ASK_MS)
    const sent = request(
      { host: '127.0.0.1', port, path, headers: { host }, agent: false, signal },
      (answer) => {
        let text = ''
        answer.on('data', (part) => {
          text += part
        })
        answer.on('error', () => resolve(undefined))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      },
    )
    sent.on('error', () => resolve(undefined))
    sent.end()
  })
}

async function readConfig(socketPath: string): Promise<{ name: string; text: string }[]> {
  const read = (): Promise<unknown> =>
    callAdmin(socketPath, 'GET', '/config/apps/http/servers/edge/routes', 2000)
  return namedRoutes(await waitUntil(read, { what: 'Caddy tells its configuration' }))
}

function readSavedConfig(file: string): { name: string; text: string }[] {
  const saved = JSON.parse(readFileSync(file, 'utf8'))
  return namedRoutes(saved.apps?.http?.servers?.edge?.routes)
}

function namedRoutes(routes: unknown): { name: string; text: string }[] {
  const listed: readonly unknown[] = Array.isArray(routes) ? routes : []
  return listed.flatMap((route) => {
    const name = new Map(Object.entries(route ?? {})).get('@id')
    return typeof name === 'string' ? [{ name, text: JSON.stringify(route) }] : []
  })
}

function readUpstreamLines(folder: string): { name: string; line: string }[] {
  // Skips temporary files, which are still being written and which Caddy never reads.
  const files = readdirSync(folder).filter((file) => !file.endsWith('.new'))
  return files.flatMap((file) => {
    const [name = ''] = file.split('.')
    const path = join(folder, file)
    return existsSync(path) ? [{ name, line: readFileSync(path, 'utf8').trim() }] : []
  })
}

export const routedDeployment = (given: unknown): RoutedDeployment => decode(routedDeploymentShape, given)
