// A test node with a real engine, a real Caddy and routed web servers.

import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type DesiredItem,
  decode,
  deploymentUidOf,
  type RoutedDeployment,
  routedDeploymentShape,
} from '@holdfast/contract'
import { type CaddyService, waitUntil } from '@holdfast/testkit'
import { createCaddyAdmin } from '../adapters/caddy/caddy-admin.ts'
import { createTestNode, type TestNode } from '../fixtures/agent.fixture.ts'
import type { RealWorld } from '../fixtures/real-engine.fixture.ts'
import type { RouterAdmin } from '../ports/router.ts'
import type { CaddySettings } from '../ports/router-settings.ts'

const PORT = 8080
export const CHECK = {
  type: 'exec',
  command: [`nc -w 1 127.0.0.1 ${PORT} </dev/null`],
  interval: '5s',
  startPeriod: '0s',
  timeout: '5s',
}

export interface RoutedNode {
  readonly caddy: CaddyService
  readonly settings: CaddySettings
  readonly admin: RouterAdmin
  readonly node: TestNode
  /** The URL of the node's Caddy that clients use. */
  readonly edge: string
}

export async function routedNode({ docker }: RealWorld): Promise<RoutedNode> {
  const caddy = await docker.startCaddy()
  const upstreamsFolder = join(dirname(caddy.configFile), 'upstreams')
  rmSync(upstreamsFolder, { recursive: true, force: true })
  const settings = {
    listen: [`${docker.address}:80`],
    peerListen: `${docker.address}:8081`,
    adminSocket: caddy.socketPath,
    upstreamsFolder,
    tls: { mode: 'off' as const },
  }
  const admin = createCaddyAdmin(settings, caddy.configFile)
  const node = createTestNode(docker.socketPath, admin)
  return { caddy, settings, admin, node, edge: `http://${docker.address}:80` }
}

/** The image of a web server that answers with its tag; each tag is another image. */
export async function routedImage({ registry }: RealWorld, tag: string): Promise<string> {
  const { digest } = await registry.pushBusyboxImage('test/routed', tag, { page: `${tag}\n`, slow: true })
  return `${registry.host}/test/routed@${digest}`
}

export const routesTo = (...items: DesiredItem[]): RoutedDeployment[] =>
  [...new Map(items.map((item) => [item.owner, item])).values()].map((item) =>
    decode(routedDeploymentShape, {
      deployment: deploymentUidOf(item.owner),
      name: item.template.name,
      routes: [{ host: `${item.template.name}.test`, path: '/', port: PORT }],
      peers: [],
    }),
  )

type Reports = Pick<TestNode, 'newest'>

const newest = (node: Reports, item: DesiredItem): string => {
  const seen = node.newest(item)
  return seen === undefined ? '' : `${seen.state} ${seen.reason}`.trim()
}
export const ready = (node: Reports, item: DesiredItem) =>
  waitUntil(() => newest(node, item) === 'ready', { what: `${item.assignmentId} is ready` })
export const gone = (node: Reports, item: DesiredItem) =>
  waitUntil(() => node.newest(item)?.gone === true, { what: `${item.assignmentId} is gone` })
