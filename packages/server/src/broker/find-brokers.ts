// Which server replicas may be asked as brokers, in which order. The asks of one assignment go to one of them as long as it
// answers, so that it notices a second ask; those that just did not answer come last.

import { createHash } from 'node:crypto'
import { serverReplicas } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export interface FoundBroker {
  readonly id: string
  readonly url: string
}

export interface BrokerDirectory {
  inOrder(subject: string): FoundBroker[]
  /** It did not answer. */
  shun(id: string): void
}

const SHUN_MS = 10_000

export function createBrokerDirectory(
  store: Pick<Store, 'listWithIds'>,
  nowMs: () => number,
): BrokerDirectory {
  const shunned = new Map<string, number>()
  return {
    inOrder(subject) {
      const now = nowMs()
      const isShunned = (id: string): boolean => (shunned.get(id) ?? 0) > now
      const known = store.listWithIds(serverReplicas).filter(({ record }) => record.brokers === true)
      const present = new Set(known.map(({ id }) => id))
      for (const id of shunned.keys()) if (!present.has(id)) shunned.delete(id)
      return known
        .map(({ id, record }) => ({ id, url: record.url, rank: rankOf(id, subject) }))
        .sort((a, b) => Number(isShunned(a.id)) - Number(isShunned(b.id)) || (a.rank < b.rank ? -1 : 1))
        .map(({ id, url }) => ({ id, url }))
    },
    shun: (id) => void shunned.set(id, nowMs() + SHUN_MS),
  }
}

const rankOf = (id: string, subject: string): string =>
  createHash('sha256').update(`${id} ${subject}`).digest('hex')
