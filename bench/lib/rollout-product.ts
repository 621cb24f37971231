// The product's side of a rollout: one POST on a lab of real engines, and its removal.

import type { Engine } from '@holdfast/agent/ports/engine'
import type { DesiredItem } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { placementsOf } from '@holdfast/testkit/scenarios/lab-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { sentItem } from './sent-item.ts'

const TENANT = 'acme'
/** Passes at once. */
const HEALTH_CHECK = { type: 'exec', command: ['true'] }
const READY_MS = 60_000
const REMOVED_MS = 120_000

interface Rollout {
  readonly replicas: number
  /** Name of the only node; anywhere without it. */
  readonly node: string | undefined
  readonly healthCheck: boolean
}

interface ProductSide {
  /** Ends when the POST was answered. */
  rollOut(rollout: Rollout): Promise<void>
  untilReady(replicas: number): Promise<void>
  /** What an agent was told to have: the bare side makes its containers from it. */
  itemOn(node: string): Promise<DesiredItem>
  /** How many of its containers run, as the engines list them. */
  running(): Promise<number>
  /** Ends when the engines have none of its containers and the controller knows. */
  clear(): Promise<void>
}

export async function createProductSide(
  whole: LabPlatform,
  engines: readonly Engine[],
): Promise<ProductSide> {
  const api = whole.api(TENANT)
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
        image: whole.image,
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
    itemOn: (node) => sentItem(whole, node, name()),
    running: async () => (await containers()).filter(({ state }) => state === 'running').length,
    async clear() {
      await api.delete(`/api/v1/deployments/${name()}`)
      // None of a deployment that is gone itself, which is answered without a list.
      const isClear = async () =>
        (await containers()).length === 0 && Object.keys(await placementsOf(api, name())).length === 0
      await waitUntil(isClear, { what: 'nothing of it is left', intervalMs: 100, timeoutMs: REMOVED_MS })
    },
  }
}

/** By name: the bare side's have others. */
const isOurs = ({ name }: { readonly name: string }): boolean => name.startsWith('roll-')
