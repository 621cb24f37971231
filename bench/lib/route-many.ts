// The time of one route change on a node with very many routes, from the agent's router to a response by Caddy.

import { createServer, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import { createCaddyAdmin } from '@holdfast/agent/adapters/caddy/caddy-admin'
import type { LocalReplica } from '@holdfast/agent/routing/plan-backends'
import { startRouter } from '@holdfast/agent/routing/router'
import {
  asAssignmentId,
  decode,
  ownerOf,
  type RoutedDeployment,
  routedDeploymentShape,
} from '@holdfast/contract'
import { freePort, startCaddy } from '@holdfast/testkit'
import pino from 'pino'
import { untilAnswered } from './ask.ts'

interface ManyRoutes {
  readonly first: number
  readonly kinds: readonly { readonly about: string; readonly served: readonly number[] }[]
}

const CHANGED = 'changed'
const HOST = 'changed.example'
const SETTLED_MS = 10_000
/** Addresses of the two replicas whose route changes during the measurement. All other routes receive no requests. */
const REPLICAS = ['127.0.0.2', '127.0.0.3']

interface DesiredRoute {
  readonly address: string
  readonly host: string
  readonly path: string
}

export async function measureManyRoutes(routes: number, changes: number): Promise<ManyRoutes> {
  const [caddy, edge, port] = [await startCaddy(), await freePort(), await freePort()]
  const servers = await Promise.all(REPLICAS.map((address) => sayWhere(address, port)))
  const settings = {
    listen: [`127.0.0.1:${edge}`],
    peerListen: undefined,
    adminSocket: caddy.socketPath,
    upstreamsFolder: join(dirname(caddy.configFile), 'upstreams'),
    tls: { mode: 'off' as const },
  }
  let desired: DesiredRoute = { address: REPLICAS[0] ?? '', host: HOST, path: '/' }
  const others = Array.from({ length: routes - 1 }, (_, at) => otherRoute(at))
  const router = startRouter({
    admin: createCaddyAdmin(settings, caddy.configFile),
    table: () => [...others.map(({ routed }) => routed), routedTo(desired, port)],
    replicas: () => [...others.map(({ replica }) => replica), replicaAt(desired.address)],
    monotonicMs: () => performance.now(),
    log: pino({ level: 'warn' }),
  })
  const change = async (next: DesiredRoute): Promise<number> => {
    desired = next
    const began = performance.now()
    router.nudge()
    const url = `http://127.0.0.1:${edge}${next.path}`
    const isThere = ({ status, text }: { status: number; text: string }): boolean =>
      status === 200 && text === next.address
    const served = (await untilAnswered(url, next.host, isThere)) - began
    // Waits for pending writes, which must not be charged to the next change.
    await router.applied(SETTLED_MS)
    return served
  }
  const repeat = async (nth: (count: number) => Partial<DesiredRoute>): Promise<number[]> => {
    const served: number[] = []
    for (let count = 1; count <= changes; count += 1) served.push(await change({ ...desired, ...nth(count) }))
    return served
  }
  try {
    const first = await change(desired)
    const replica = await repeat((count) => ({ address: REPLICAS[count % REPLICAS.length] ?? '' }))
    const host = await repeat((count) => ({ host: `changed-${count}.example` }))
    const path = await repeat((count) => ({ path: `/at/${count}` }))
    const kinds = [
      { about: 'another replica', served: replica },
      { about: 'another host', served: host },
      { about: 'another path', served: path },
    ]
    return { first, kinds }
  } finally {
    router.close()
    for (const server of servers) server.close()
    await caddy.stop()
  }
}

function sayWhere(address: string, port: number): Promise<Server> {
  const server = createServer((_request, answer) => answer.end(address))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => resolve(server))
  })
}

const uidOf = (name: string): string => `dep_${name}`

const routedAs = (name: string, route: { host: string; path: string; port: number }): RoutedDeployment =>
  decode(routedDeploymentShape, { deployment: uidOf(name), name, routes: [route], peers: [] })
const routedTo = ({ host, path }: DesiredRoute, port: number): RoutedDeployment =>
  routedAs(CHANGED, { host, path, port })

const replicaOf = (routed: RoutedDeployment, address: string): LocalReplica => ({
  owner: ownerOf('deployment', routed.deployment),
  assignmentId: asAssignmentId(`rep_${address}`),
  run: `at ${address}`,
  address,
  state: 'serves',
})
const replicaAt = (address: string): LocalReplica =>
  replicaOf(routedAs(CHANGED, { host: HOST, path: '/', port: 1 }), address)

function otherRoute(at: number) {
  const routed = routedAs(`other-${at}`, { host: `other-${at}.example`, path: '/', port: 8080 })
  return { routed, replica: replicaOf(routed, `10.208.${at >> 8}.${at & 255}`) }
}
