// Creates many replicated volumes at simulated agents, and waits until each has a copy that is current and promotable.

import { waitUntil } from '@holdfast/testkit'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import type { IdleAgents } from './idle-agents.ts'

const SIZE = 16 * 1024 ** 2
const AT_ONCE = 10
const PAGE = 500

export interface ProtectedVolumes {
  /** How many volumes are Ready with a promotable copy. */
  countProtected(): Promise<number>
}

/** The primaries are spread evenly over the nodes. */
export async function protectVolumes(
  api: ApiClient,
  tenant: string,
  { nodeIds, requestPromotable }: Pick<IdleAgents, 'nodeIds' | 'requestPromotable'>,
  count: number,
): Promise<ProtectedVolumes> {
  const numbers = Array.from({ length: count }, (_, index) => index).values()
  const createNext = async (): Promise<void> => {
    for (const number of numbers) {
      const nodeId = nodeIds[number % nodeIds.length]
      const sent = { name: `idle-${number}`, class: 'replicated', sizeBytes: SIZE, replicas: 1, nodeId }
      const created = await api.post(`/api/v1/tenants/${tenant}/volumes`, sent)
      if (created.status !== 201) throw new Error(`no volume: ${created.text}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, createNext))
  const countProtected = () => countVolumes(api, isProtected)
  await untilAll(count, 'current', () => countVolumes(api, isCurrent))
  await untilAll(count, 'promotable', async () => {
    await requestPromotable()
    return countProtected()
  })
  return { countProtected }
}

async function untilAll(all: number, state: string, count: () => Promise<number>): Promise<void> {
  let found = 0
  await waitUntil(
    async () => {
      found = await count()
      return found === all
    },
    {
      what: `the copy of every volume is ${state}`,
      timeoutMs: 300_000,
      intervalMs: 1_000,
      seen: () => `${found} of ${all} volumes`,
    },
  )
}

async function countVolumes(api: ApiClient, isCounted: (volume: unknown) => boolean): Promise<number> {
  let count = 0
  let cursor: unknown = null
  do {
    const after = cursor === null ? '' : `&cursor=${String(cursor)}`
    const { body, status, text } = await api.get(`/api/v1/dvm/volumes?limit=${PAGE}${after}`)
    if (status !== 200) throw new Error(`no list of volumes: ${text}`)
    const items: unknown[] = Object(body['items'])
    count += items.filter(isCounted).length
    cursor = body['nextCursor']
  } while (typeof cursor === 'string')
  return count
}

function isCurrent(volume: unknown): boolean {
  const { phase, reason } = Object(volume)
  return phase === 'Ready' && reason === null
}

function isProtected(volume: unknown): boolean {
  const copies: unknown[] = Object(Object(volume).copies)
  return isCurrent(volume) && copies.some((copy) => Object(copy).promotable === true)
}
