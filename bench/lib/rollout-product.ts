// The product's side of the rollout benchmark: one POST on a lab of real engines, and its removal.

import type { Engine } from '@holdfast/agent/ports/engine'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { placementsOf } from '@holdfast/testkit/scenarios/lab-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { sentItem } from './sent-item.ts'

const TENANT = 'acme'
/** Passes immediately. */
const HEALTH_CHECK = { type: 'exec', command: ['true'] }
const READY_MS = 60_000
const REMOVED_MS = 120_000

interface Rollout {
  readonly replicas: number
  /** Name of the only allowed node; undefined: any node. */
  readonly node: string | undefined
  readonly healthCheck: boolean
}

interface ProductSide {
  /** Resolves when the POST was answered. */
  rollOut(rollout: Rollout): Promise<void>
  untilReady(replicas: number): Promise<void>
  /** The item that an agent received: the bare side creates its containers from it. */
  itemOn(node: string): Promise<DesiredItem>
  /** Number of its running containers, as the engines list them. */
  running(): Promise<number>
  /** Resolves when the engines have none of its containers and the controller has recorded that. */
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
      // A deleted deployment returns no list, which means no placements.
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

/** Selects by name: containers of the bare side have other names. */
const isOurs = ({ name }: { readonly name: string }): boolean => name.startsWith('roll-')
