// Creates a deployment with a public route, and waits until the routers serve it.

import { startLoad, waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import { untilPhase } from './lab-reads.ts'
import type { LabPlatform } from './start-lab-platform.ts'

export interface RoutedPage {
  readonly tenant: string
  /** Name of the deployment; the host of its route is `<name>.example`. */
  readonly name: string
  readonly replicas: number
  /** Whether each node may run only one of the replicas. */
  readonly oneOnEach?: boolean
}

/** The agent checks a new container at once. Each check of the engine costs it a process, so there are few. */
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '30s' }

export const edgeOf = (cluster: LabPlatform, node: string): string =>
  `http://${cluster.node(node).address}:80`

export const hostOf = (name: string): string => `${name}.example`

export const nodesOf = (cluster: LabPlatform, tenant: string): string[] =>
  cluster.lab.nodes.filter((node) => node.tenant === tenant).map(({ name }) => name)

/** Creates a deployment. Resolves once it runs and the router of every node of its tenant routes to it. */
export async function deployRouted(
  cluster: LabPlatform,
  { tenant, name, replicas, oneOnEach = false }: RoutedPage,
): Promise<void> {
  const image = await pushPage(cluster, { tenant, name }, '1.0', name)
  const routes = [{ host: hostOf(name), path: '/', port: 8080 }]
  const placement = oneOnEach ? { placement: { antiAffinity: [name] } } : {}
  const body = { kind: 'Deployment', name, image, replicas, healthCheck: CHECK, routes, ...placement }
  const { status, text } = await cluster.api(tenant).post('/api/v1/deployments', body)
  expect(status, text).toBe(201)
  await untilPhase(cluster.api(tenant), name, 'Running')
  for (const node of nodesOf(cluster, tenant)) await untilServed(cluster, node, name)
}

/** Pushes another image of the page, and returns its reference. */
export async function pushPage(
  { lab }: LabPlatform,
  { tenant, name }: Pick<RoutedPage, 'tenant' | 'name'>,
  version: string,
  page = `${name} ${version}`,
): Promise<string> {
  const pushed = await lab.registry.pushBusyboxImage(`${tenant}/${name}`, version, { page })
  return pushed.reference
}

export async function untilServed(cluster: LabPlatform, node: string, name: string): Promise<void> {
  await waitUntil(() => isServed(edgeOf(cluster, node), hostOf(name)), { what: `${node} serves ${name}` })
}

async function isServed(target: string, host: string): Promise<boolean> {
  const probe = startLoad({ targets: [target], host, perSecond: 20, timeoutMs: 2000 })
  await waitUntil(() => probe.result().answered + probe.result().failures.length > 0, { what: 'an answer' })
  return (await probe.stop()).failures.length === 0
}
