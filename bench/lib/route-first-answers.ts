// From the POST of a routed deployment to its first answer through a router, beside the moment at which its record says
// ready: on the node that has the replica, and on another one of the tenant, which forwards.

import type { TenantId } from '@holdfast/contract'
import { deployments, observations } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { untilAnswered } from './ask.ts'
import { nodeIdOf } from './node-id.ts'

interface FirstAnswers {
  readonly about: string
  /** Milliseconds since the POST was sent, for each deployment. */
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
  const whole = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 0 } })
  try {
    const found: FirstAnswers[] = []
    for (const { line, node, other } of NODES) {
      const times: Times[] = []
      // The first pulls the image and makes the network, and does not count.
      for (let at = 0; at <= count; at += 1) times.push(await deployOnce(whole, node, other, at))
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
    await whole.stop()
  }
}

async function deployOnce(whole: LabPlatform, node: string, other: string, at: number): Promise<Times> {
  const api = whole.api('acme')
  const name = `routed-${node}-${at}`
  const host = `${name}.example`
  const spec = {
    kind: 'Deployment',
    name,
    image: whole.image,
    healthCheck: CHECK,
    nodeId: await nodeIdOf(api, node),
  }
  const answered = (by: string): Promise<number> =>
    untilAnswered(`http://${whole.node(by).address}:80/`, host, ({ status }) => status === 200)
  const isReady = untilReady(whole, name)
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
  await waitUntil(isGone, { what: 'it is gone', timeoutMs: REMOVED_MS })
  return { ready: ready - began, here: here - began, away: away - began }
}

/** When the store shows its replica ready, on the clock of performance.now(). */
function untilReady({ platform }: LabPlatform, name: string): Promise<number> {
  const { store } = platform.server
  const tenant = platform.acme.id as TenantId
  return new Promise((resolve) => {
    const stop = store.subscribe(() => {
      const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
      const seen = store.list(observations, tenant).filter(({ record }) => record.deployment === uid)
      if (uid === undefined || !seen.some(({ record }) => record.state === 'ready' && record.reason === ''))
        return
      stop()
      resolve(performance.now())
    })
  })
}
