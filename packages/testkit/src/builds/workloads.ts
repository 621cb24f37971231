// The deployments of a platform of two builds, the requests that its clients repeat, and changes for the moments in which a
// process is replaced.

import { type Load, startLoad } from '../load/http-load.ts'
import { waitUntil } from '../wait-until.ts'
import type { Request } from './api-traffic.ts'
import type { BuildsPlatform } from './start-builds-platform.ts'

export const DEPLOYMENTS = '/api/v1/deployments'
/** Deployments whose containers no request replaces. */
export const UNTOUCHED = ['web', 'worker']
export const ALL = [...UNTOUCHED, 'shop', 'elastic']
/** Hosts of the routes. */
export const HOSTS = ['web.example', 'shop.example']

const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '5s' }
const GENERATE = { keys: ['password'], length: 32, charset: 'alphanumeric' }

/** The health check and the route of a deployment that serves under its name. */
export const routed = (name: string): object => ({
  healthCheck: CHECK,
  routes: [{ host: `${name}.example`, path: '/', port: 8080 }],
})

export interface Workloads {
  readonly image: string
  deploy(spec: object): Promise<void>
  /** A round of API traffic: reads of every kind, and writes that replace no container of an untouched deployment. */
  requestsOf(round: number): Request[]
  /** Changes a deployment; the kinds of changes alternate. */
  changeSomething(step: number): Promise<void>
}

export async function deployWorkloads(platform: BuildsPlatform): Promise<Workloads> {
  const { api, lab } = platform
  const { reference: image } = await lab.registry.pushBusyboxImage('acme/web', '1.0', { page: 'web' })
  const deploy = async (spec: object): Promise<void> => {
    const { status, text } = await api.post(DEPLOYMENTS, { kind: 'Deployment', image, ...spec })
    if (status !== 201) throw new Error(`a deployment was not created: ${text}`)
  }
  const secrets = [{ name: 'DB', vault_path: 'resources/db', anchor: 'process', generate: GENERATE }]
  await deploy({ name: 'web', replicas: 3, secrets, ...routed('web') })
  await deploy({
    name: 'worker',
    replicas: 2,
    environment: { A: '1' },
    labels: { team: 'a' },
    dependsOn: { web: 'healthy' },
  })
  await deploy({ name: 'shop', replicas: 2, ...routed('shop') })
  await deploy({ name: 'elastic', replicas: 1, limits: { memoryBytes: 64 * 1024 ** 2 } })
  return {
    image,
    deploy,
    requestsOf: (round) => requestsOf(platform, image, round),
    async changeSomething(step) {
      const kinds = [
        () => api.put(`${DEPLOYMENTS}/shop`, { environment: { STEP: String(step) } }),
        () => api.put(`${DEPLOYMENTS}/elastic`, { replicas: 1 + (step % 3) }),
        () => api.post(`${DEPLOYMENTS}/shop/restart`, undefined),
      ]
      const answer = await kinds[step % kinds.length]?.()
      if (answer?.status !== 200) throw new Error(`a change was refused: ${answer?.text}`)
    },
  }
}

function requestsOf({ nodeIds }: BuildsPlatform, image: string, round: number): Request[] {
  const get = (path: string): Request => ({ method: 'GET', path: `/api/v1${path}` })
  const name = `brief-${round}`
  return [
    get('/deployments'),
    get('/deployments/web/status'),
    get('/deployments/web/why'),
    get('/deployments/web/placements'),
    get('/deployments/web/logs?tail=2'),
    { method: 'PUT', path: `${DEPLOYMENTS}/worker`, body: { stopGracePeriod: `${10 + (round % 20)}s` } },
    { method: 'POST', path: DEPLOYMENTS, body: { kind: 'Deployment', name, image, replicas: 0 } },
    get('/nodes'),
    ...nodeIds.map((id) => get(`/nodes/${id}/containers`)),
    get('/events?limit=20'),
    get('/archives/deployments/worker'),
    { method: 'POST', path: `${DEPLOYMENTS}/web/exec`, body: { command: ['true'], tty: false } },
    { method: 'PUT', path: `${DEPLOYMENTS}/web?dryRun=true`, body: { replicas: 2 } },
    { method: 'PUT', path: '/api/v1/secrets/resources/other', body: { values: { password: name } } },
    get('/secrets'),
    get('/quotas'),
    { method: 'DELETE', path: `${DEPLOYMENTS}/${name}` },
  ]
}

/** The address of a node's router. */
export const urlOf = (address: string): string => `http://${address}:80`

/** Starts a load on all routers once they serve the host. It sends requests again that a reloaded router did not read. */
export async function startRoutedLoad(
  platform: BuildsPlatform,
  host: string,
  perSecond: number,
): Promise<Load> {
  return startLoad({ targets: await untilServed(platform, host), host, perSecond, resends: true })
}

/** Waits until every router of the platform serves a host, and returns the addresses of the routers. */
async function untilServed({ lab }: BuildsPlatform, host: string): Promise<string[]> {
  const targets = lab.nodes.map(({ address }) => urlOf(address))
  const isServed = async (target: string) => {
    const probe = startLoad({ targets: [target], host, perSecond: 20 })
    await waitUntil(() => probe.result().answered + probe.result().failures.length > 0, { what: 'an answer' })
    return (await probe.stop()).failures.length === 0
  }
  for (const target of targets)
    await waitUntil(() => isServed(target), { what: `${target} serves ${host}`, timeoutMs: 60_000 })
  return targets
}
