// The server replicas with the role broker, in the order in which to try them. Requests of one assignment go to the same
// broker while that broker responds, so that it can detect a repeated request. Brokers that just failed come last.

import { createHash } from 'node:crypto'
import { serverReplicas } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export interface FoundBroker {
  readonly id: string
  readonly url: string
}

export interface BrokerDirectory {
  inOrder(subject: string): FoundBroker[]
  /** Moves a broker that did not respond to the end of the order. */
  deprioritize(id: string): void
}

const DEPRIORITIZED_MS = 10_000

export function createBrokerDirectory(
  store: Pick<Store, 'listWithIds'>,
  nowMs: () => number,
): BrokerDirectory {
  const failedUntil = new Map<string, number>()
  return {
    inOrder(subject) {
      const now = nowMs()
      const hasFailed = (id: string): boolean => (failedUntil.get(id) ?? 0) > now
      const known = store.listWithIds(serverReplicas).filter(({ record }) => record.brokers === true)
      const present = new Set(known.map(({ id }) => id))
      for (const id of failedUntil.keys()) if (!present.has(id)) failedUntil.delete(id)
      return known
        .map(({ id, record }) => ({ id, url: record.url, rank: rankOf(id, subject) }))
        .sort((a, b) => Number(hasFailed(a.id)) - Number(hasFailed(b.id)) || (a.rank < b.rank ? -1 : 1))
        .map(({ id, url }) => ({ id, url }))
    },
    deprioritize: (id) => void failedUntil.set(id, nowMs() + DEPRIORITIZED_MS),
  }
}

const rankOf = (id: string, subject: string): string =>
  createHash('sha256').update(`${id} ${subject}`).digest('hex')
