// The product's variant of the update benchmark: one deployment on one node, and PUTs with another image.

import { ownerOf, type TenantId } from '@holdfast/contract'
import { deployments, observations } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { startLoad, waitUntil } from '@holdfast/testkit'
import { placementsOf } from '@holdfast/testkit/scenarios/lab-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { nodeIdOf } from '../node-id.ts'
import type { StepBook, Succession } from './update-steps.ts'

const READY_MS = 120_000
/** A health check with a long interval, so that only the first check, which the agent runs itself, is measured. */
const HEALTH_CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'], interval: '60s' }
const HOST = 'updated.example'
const PORT = 8080

interface Update {
  readonly image: string
  readonly parallelism: number
}

export interface UpdateFigures {
  readonly ms: number
  readonly successions: readonly Succession[]
}

interface ProductUpdates {
  readonly name: string
  /** Updates the deployment. Measures from the PUT until the last old container is gone from the engine. */
  update(update: Update): Promise<UpdateFigures>
  /** Adds or removes the route without restarts; resolves when the node's router has begun or stopped to serve it. */
  setRouted(routed: boolean): Promise<void>
  clear(): Promise<void>
}

export async function createProductUpdates(
  cluster: LabPlatform,
  node: string,
  replicas: number,
  image: string,
  book: StepBook,
): Promise<ProductUpdates> {
  const api = cluster.api('acme')
  const name = `updated-${node}`
  const path = `/api/v1/deployments/${name}`
  const spec = { kind: 'Deployment', name, image, replicas, healthCheck: HEALTH_CHECK, stopGracePeriod: '5s' }
  const made = await api.post('/api/v1/deployments', { ...spec, nodeId: await nodeIdOf(api, node) })
  if (made.status !== 201) throw new Error(`not accepted: ${made.text}`)
  const { assigned, close } = noteStored(cluster, name, book)
  const put = async (change: object): Promise<void> => {
    const answer = await api.put(path, change)
    if (answer.status !== 200) throw new Error(`not accepted: ${answer.text}`)
  }
  const untilSettled = (): Promise<boolean> =>
    waitUntil(
      async () => {
        const placed = await placementsOf(api, name)
        return placed.length === replicas && placed.every(({ state }) => state === 'ready')
      },
      { what: 'exactly these replicas are ready', timeoutMs: READY_MS },
    )
  await untilSettled()
  return {
    name,
    async update({ image, parallelism }) {
      const before = new Map(assigned().map(({ replica, id }) => [replica, id]))
      const began = performance.now()
      await put({ image, update: { order: 'start-first', parallelism } })
      const ms = (await book.untilRemoved([...before.values()])) - began
      await untilSettled()
      const successions = assigned().map(({ replica, id }) => ({ old: before.get(replica) ?? '', next: id }))
      return { ms, successions }
    },
    async setRouted(routed) {
      await put({ routes: routed ? [{ host: HOST, path: '/', port: PORT }] : [] })
      const target = `http://${cluster.node(node).address}:80`
      await waitUntil(async () => (await isServed(target)) === routed, {
        what: 'the router has applied the change',
      })
    },
    async clear() {
      close()
      await api.delete(path)
      const isGone = async () => (await api.get(path)).status === 404
      await waitUntil(isGone, { what: 'the deployment is removed', timeoutMs: READY_MS })
    },
  }
}

/** Records when the store shows each step of the deployment's replicas, such as desired, ready and to be removed. */
function noteStored({ platform }: LabPlatform, name: string, book: StepBook) {
  const { store } = platform.server
  const tenant = platform.acme.id as TenantId
  const assigned = () => {
    const uid = store.get(inTenant(tenant, deployments, name))?.record.uid
    return (uid && store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record.assignments) ?? []
  }
  const close = store.subscribe(() => {
    for (const { id, desired } of assigned()) {
      if (desired === 'running') book.note(id, 'wanted')
      if (desired === 'removed') book.note(id, 'unwanted')
      const seen = store.get(inTenant(tenant, observations, id))?.record
      if (seen?.state === 'ready' && seen.reason === '') book.note(id, 'ready')
    }
  })
  return { assigned, close }
}

async function isServed(target: string): Promise<boolean> {
  const probe = startLoad({ targets: [target], host: HOST, perSecond: 50 })
  await waitUntil(() => probe.result().sent > 0, { what: 'a request was sent' })
  return (await probe.stop()).failures.length === 0
}
