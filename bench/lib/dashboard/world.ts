// The platform whose dashboard is measured: one tenant with many nodes, which are simulated agents over the real protocol,
// and many deployments, which are created through the API and placed by the controllers. One deployment fits on no node.

import { makeTempFolder, type SimulatedNode, startSimulatedAgents, waitUntil } from '@holdfast/testkit'
import { type ApiClient, createApiClient } from '@holdfast/testkit/platform/api-client'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'
import { bodyOf } from '../create-body.ts'
import { enrollNode } from '../enroll-node.ts'
import { openHttpLoad } from '../http-load.ts'
import { type BenchPlatform, startBenchPlatform } from '../platform.ts'

export interface WorldSize {
  readonly deployments: number
  readonly nodes: number
  /** A folder with a built dashboard; undefined: the dashboard is built first. */
  readonly ui?: string | undefined
}

export interface DashboardWorld {
  readonly url: string
  readonly tenant: string
  readonly token: string
  readonly api: ApiClient
  readonly image: string
  /** The folder with the built dashboard. */
  readonly folder: string
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/** The deployment that needs more memory than any node has. */
export const WAITING = 'waiting'
export const deploymentName = (index: number): string => `shop-${String(index).padStart(5, '0')}`

const ROLES = ['api', 'broker', 'controllers', 'gateway']
const CONNECTIONS = 32
const ENROLLED_AT_ONCE = 16
const PLACING_MS = 600_000

export async function startDashboardWorld({ deployments, nodes, ui }: WorldSize): Promise<DashboardWorld> {
  const built = makeTempFolder('bench-dashboard')
  const folder = ui ?? built.path
  if (ui === undefined) await buildDashboard(folder)
  const platform = await startBenchPlatform(1, { roles: ROLES, settings: { ui: { folder } } })
  const [tenant] = platform.tenants
  if (tenant === undefined) throw new Error('the platform has no tenant')
  const url = `http://127.0.0.1:${platform.port}`
  const api = createApiClient(url, tenant.token)
  const enrolled = await enrollAll(api, nodes)
  const agents = await startSimulatedAgents({ url, nodes: enrolled, report: true })
  await createAll(platform, tenant.token, deployments)
  await untilPlaced(api, deployments)
  return {
    url,
    tenant: tenant.id,
    token: tenant.token,
    api,
    image: platform.image,
    folder,
    pids: [platform.serverPid, platform.secretsStorePid, ...platform.etcdPids],
    async stop() {
      agents.close()
      await platform.stop()
      built.remove()
    },
  }
}

async function enrollAll(api: ApiClient, count: number): Promise<SimulatedNode[]> {
  const names = Array.from({ length: count }, (_, index) => `machine-${String(index).padStart(4, '0')}`)
  return inParallel(names, ENROLLED_AT_ONCE, (name) => enrollNode(api, name))
}

const NOTHING = { cpuMillis: 0, memoryBytes: 0 }
const TOO_MUCH = { cpuMillis: 100, memoryBytes: 2 ** 45 }

/** The body of a deployment. The benchmark sends it again with other replicas. */
export function deploymentBody(image: string, name: string, replicas: number): object {
  const resources = name === WAITING ? TOO_MUCH : NOTHING
  const body: object = JSON.parse(bodyOf(image, name, { replicas, resources }))
  return Object.fromEntries(
    Object.entries(body).filter(([member]) => !['healthCheck', 'limits', 'placement'].includes(member)),
  )
}

async function createAll({ port, image }: BenchPlatform, token: string, count: number): Promise<void> {
  const load = await openHttpLoad(port, CONNECTIONS)
  const names = [WAITING, ...Array.from({ length: count - 1 }, (_, index) => deploymentName(index))]
  await inParallel(names, CONNECTIONS, async (name) => {
    const status = await load.post(token, JSON.stringify(deploymentBody(image, name, 1)))
    if (status !== 201) throw new Error(`creating ${name} returned ${status}`)
  })
  load.close()
}

/** Waits until all deployments but the one that fits nowhere run. */
async function untilPlaced(api: ApiClient, count: number): Promise<void> {
  const areRunning = async (): Promise<boolean> => {
    const { body } = await api.get('/api/v1/overview')
    return Object(Object(body['deployments']).counts).Running === count - 1
  }
  await waitUntil(areRunning, { what: 'every deployment runs', timeoutMs: PLACING_MS, intervalMs: 1_000 })
}

async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const queue = items.values()
  const done: R[] = []
  const work = async (): Promise<void> => {
    for (const item of queue) done.push(await run(item))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return done
}
