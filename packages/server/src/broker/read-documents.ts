// Reads documents for containers that are being made: one read of a path at a time, which all who want the same version
// share; so many paths of a tenant at once; and a path that failed is not asked again for half a minute, unless its
// credential changed. So neither a store that is away nor a tenant that retries makes a flood. Nothing that was read is kept.

import type { TenantId } from '@holdfast/contract'
import { createBoundedMap } from '../lib/bounded-map.ts'
import { untilAborted } from '../lib/with-deadline.ts'
import type { SecretDocument, SecretsReader } from '../ports/secrets-store.ts'
import { createBulkhead } from './bulkhead.ts'

export type ReadCause = 'denied' | 'missing' | 'store_unavailable'

export type DocumentRead =
  | { readonly kind: 'ok'; readonly document: SecretDocument }
  | { readonly kind: 'failed'; readonly cause: ReadCause }

export interface WantedDocument {
  readonly tenant: TenantId
  readonly namespace: string
  readonly label: string
  readonly version: number
  /** Of the credential's record: a failure counts for this state of it. */
  readonly revision: number
}

export interface DocumentReadsOptions {
  readonly secretsStore: Pick<SecretsReader, 'readVersion'>
  readonly nowMs: () => number
  /** Paths of one tenant that are read at once. */
  readonly perTenant?: number
}

export type ReadDocument = (wanted: WantedDocument, signal: AbortSignal) => Promise<DocumentRead>

const REST_MS = 30_000
const MAX_FAILURES = 10_000
const PER_TENANT = 16
const AWAY: DocumentRead = { kind: 'failed', cause: 'store_unavailable' }

interface UnderWay {
  readonly version: number
  readonly result: Promise<DocumentRead>
}

export function createDocumentReads(options: DocumentReadsOptions): ReadDocument {
  const failures = createFailures(options.nowMs)
  const lanes = createBulkhead(options.perTenant ?? PER_TENANT)
  const running = new Map<string, UnderWay>()
  const start = async (wanted: WantedDocument, signal: AbortSignal): Promise<DocumentRead> => {
    const { tenant, namespace, label, version } = wanted
    const ask = () => options.secretsStore.readVersion(tenant, { namespace, label }, version)
    const answer = await lanes.run(tenant, ask, signal)
    // Nothing was asked, so nothing is known of the path.
    if (answer === undefined) return AWAY
    if (answer.kind === 'ok') return answer
    const cause = causeOf(answer.kind)
    failures.note(wanted, cause)
    return { kind: 'failed', cause }
  }
  return async (wanted, signal) => {
    const path = pathOf(wanted)
    for (;;) {
      const known = failures.of(wanted)
      if (known !== undefined) return { kind: 'failed', cause: known }
      const other = running.get(path)
      if (other === undefined) break
      const result = await untilAborted(signal, other.result, () => AWAY)
      if (other.version === wanted.version || signal.aborted) return result
    }
    const result = start(wanted, signal).finally(() => running.delete(path))
    running.set(path, { version: wanted.version, result })
    return untilAborted(signal, result, () => AWAY)
  }
}

const pathOf = ({ tenant, namespace, label }: WantedDocument): string => `${tenant}/${namespace}/${label}`

function causeOf(kind: 'absent' | 'denied' | 'unavailable'): ReadCause {
  if (kind === 'unavailable') return 'store_unavailable'
  return kind === 'absent' ? 'missing' : 'denied'
}

interface Failures {
  of(wanted: WantedDocument): ReadCause | undefined
  note(wanted: WantedDocument, cause: ReadCause): void
}

/** A version that is not there says nothing of the others; every other failure is of the path. */
function createFailures(nowMs: () => number): Failures {
  const known = createBoundedMap<string, { cause: ReadCause; until: number; revision: number }>(MAX_FAILURES)
  const ofVersion = (wanted: WantedDocument): string => `${pathOf(wanted)}?${wanted.version}`
  return {
    of(wanted) {
      for (const key of [pathOf(wanted), ofVersion(wanted)]) {
        const found = known.get(key)
        if (found === undefined) continue
        if (found.revision === wanted.revision && nowMs() < found.until) return found.cause
        known.delete(key)
      }
      return undefined
    },
    note(wanted, cause) {
      const key = cause === 'missing' ? ofVersion(wanted) : pathOf(wanted)
      known.set(key, { cause, until: nowMs() + REST_MS, revision: wanted.revision })
    },
  }
}
