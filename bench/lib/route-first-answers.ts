// The time from the POST of a routed deployment to its first response through a router, compared with the time at which
// the replica is recorded as ready. Measured on the node with the replica, and on another node of the tenant, which
// forwards.

import { ownerOf, type TenantId } from '@holdfast/contract'
import { deployments, observations } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { untilAnswered } from './ask.ts'
import { nodeIdOf } from './node-id.ts'

interface FirstAnswers {
  readonly about: string
  /** For each deployment, milliseconds from its POST until the replica was recorded as ready. */
  readonly toReady: readonly number[]
  readonly toAnswer: readonly number[]
}

const NODES = [
  { line: 'old', node: 'acme-1', other: 'acme-2' },
  { line: 'new', node: 'acme-2', other: 'acme-1' },
]
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '60s' }
const PORT = 8080
const REMOVED_MS = 60_000

interface Times {
  readonly ready: number
  readonly here: number
  readonly away: number
}

export async function measureFirstAnswers(count: number): Promise<FirstAnswers[]> {
  const cluster = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 0 } })
  try {
    const found: FirstAnswers[] = []
    for (const { line, node, other } of NODES) {
      const times: Times[] = []
      // The first deployment pulls the image and creates the network, so its times are discarded.
      for (let at = 0; at <= count; at += 1) times.push(await deployOnce(cluster, node, other, at))
      times.shift()
      const toReady = times.map(({ ready }) => ready)
      found.push({ about: `${line} engine`, toReady, toAnswer: times.map(({ here }) => here) })
      found.push({
        about: `${line} engine, through another node`,
        toReady,
        toAnswer: times.map(({ away }) => away),
      })
    }
    return found
  } finally {
    await cluster.stop()
  }
}

async function deployOnce(cluster: LabPlatform, node: string, other: string, at: number): Promise<Times> {
  const api = cluster.api('acme')
  const name = `routed-${node}-${at}`
  const host = `${name}.example`
  const spec = {
    kind: 'Deployment',
    name,
    image: cluster.image,
    healthCheck: CHECK,
    nodeId: await nodeIdOf(api, node),
  }
  const answered = (by: string): Promise<number> =>
    untilAnswered(`http://${cluster.node(by).address}:80/`, host, ({ status }) => status === 200)
  const isReady = untilReady(cluster, name)
  const began = performance.now()
  const posted = api.post('/api/v1/deployments', { ...spec, routes: [{ host, path: '/', port: PORT }] })
  const [ready, here, away, { status, text }] = await Promise.all([
    isReady,
    answered(node),
    answered(other),
    posted,
  ])
  if (status !== 201) throw new Error(`not accepted: ${text}`)
  await api.delete(`/api/v1/deployments/${name}`)
  const isGone = async () => (await api.get(`/api/v1/deployments/${name}`)).status === 404
  await waitUntil(isGone, { what: 'the deployment is removed', timeoutMs: REMOVED_MS })
  return { ready: ready - began, here: here - began, away: away - began }
}

/** Resolves with the time at which the store shows the replica as ready, on the clock of performance.now(). */
function untilReady({ platform }: LabPlatform, name: string): Promise<number> {
  const { store } = platform.server
  const tenant = platform.acme.id as TenantId
  return new Promise((resolve) => {
    const stop = store.subscribe(() => {
      const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
      const owner = uid && ownerOf('deployment', uid)
      const seen = store.list(observations, tenant).filter(({ record }) => record.owner === owner)
      if (owner === undefined || !seen.some(({ record }) => record.state === 'ready' && record.reason === ''))
        return
      stop()
      resolve(performance.now())
    })
  })
}
