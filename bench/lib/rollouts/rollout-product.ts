// The product's variant of the rollout benchmark: one POST on a lab of real engines, and the removal of the deployment.

import type { Engine } from '@holdfast/agent/ports/engine'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { placementsOf } from '@holdfast/testkit/scenarios/lab-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { sentItem } from '../sent-item.ts'

const TENANT = 'acme'
/** A health check that passes immediately. */
const HEALTH_CHECK = { type: 'exec', command: ['true'] }
const READY_MS = 60_000
const REMOVED_MS = 120_000

interface Rollout {
  readonly replicas: number
  /** Name of the only node on which replicas may be placed. If undefined, replicas may be placed on any node. */
  readonly node: string | undefined
  readonly healthCheck: boolean
}

interface ProductSide {
  /** Creates the deployment; resolves when the POST was answered. */
  rollOut(rollout: Rollout): Promise<void>
  untilReady(replicas: number): Promise<void>
  /** The desired item of a replica that the node's agent received; the bare variant creates containers from this item. */
  itemOn(node: string): Promise<DesiredItem>
  /** Number of the deployment's running containers, as listed by the engines. */
  running(): Promise<number>
  /** Deletes the deployment; resolves when its containers are gone and the controller has recorded that. */
  clear(): Promise<void>
}

export async function createProductSide(
  cluster: LabPlatform,
  engines: readonly Engine[],
): Promise<ProductSide> {
  const api = cluster.api(TENANT)
  const ids = new Map<string, string>()
  const { body } = await api.get('/api/v1/nodes')
  for (const node of Object.values(Object(body['items']))) ids.set(Object(node).name, Object(node).id)
  let count = 0
  const name = (): string => `roll-${count}`
  const containers = async () =>
    (await Promise.all(engines.map((engine) => engine.listContainers()))).flat().filter(isOurs)
  return {
    async rollOut({ replicas, node, healthCheck }) {
      count += 1
      const answer = await api.post('/api/v1/deployments', {
        kind: 'Deployment',
        name: name(),
        image: cluster.image,
        replicas,
        ...(node === undefined ? {} : { nodeId: ids.get(node) }),
        ...(healthCheck ? { healthCheck: HEALTH_CHECK } : {}),
      })
      if (answer.status !== 201) throw new Error(`not accepted: ${answer.text}`)
    },
    async untilReady(replicas) {
      const allReady = async () =>
        (await placementsOf(api, name())).filter(({ state }) => state === 'ready').length === replicas
      await waitUntil(allReady, { what: 'all replicas are ready', intervalMs: 5, timeoutMs: READY_MS })
    },
    itemOn: (node) => sentItem(cluster, node, name()),
    running: async () => (await containers()).filter(({ state }) => state === 'running').length,
    async clear() {
      await api.delete(`/api/v1/deployments/${name()}`)
      // For a deleted deployment the API returns no list, which means no placements.
      const isClear = async () =>
        (await containers()).length === 0 && Object.keys(await placementsOf(api, name())).length === 0
      await waitUntil(isClear, {
        what: 'all its containers are removed',
        intervalMs: 100,
        timeoutMs: REMOVED_MS,
      })
    },
  }
}

/** True for containers of the benchmark's deployment; containers created directly on the engine have other names. */
const isOurs = ({ name }: { readonly name: string }): boolean => name.startsWith('roll-')
