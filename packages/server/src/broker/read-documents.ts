// Reads secrets for containers that are about to be created, without flooding the secrets store: requests for the same
// version share one read, concurrent reads per tenant are limited, and a path that failed is not read again for 30 s
// unless the record of the secret changed. Secret values are not cached.

import type { TenantId } from '@holdfast/contract'
import { createBoundedMap } from '../lib/bounded-map.ts'
import { untilAborted } from '../lib/with-deadline.ts'
import type { ReadVersion, SecretDocument, SecretsReader } from '../ports/secrets-store.ts'
import { createBulkhead } from './bulkhead.ts'

export type ReadCause = 'denied' | 'missing' | 'replaced' | 'store_unavailable'

export type DocumentRead =
  | { readonly kind: 'ok'; readonly document: SecretDocument }
  | { readonly kind: 'failed'; readonly cause: ReadCause }

export interface DocumentRequest {
  readonly tenant: TenantId
  readonly namespace: string
  readonly label: string
  readonly version: number
  /** The time that the store gave the version when it was written; undefined if it is unknown. */
  readonly storedAt?: string
  /** Revision of the record of the secret. A remembered failure applies to this revision only. */
  readonly revision: number
}

export interface DocumentReadsOptions {
  readonly secretsStore: Pick<SecretsReader, 'readVersion'>
  readonly nowMs: () => number
  /** Maximum number of concurrent reads of the secrets store per tenant. */
  readonly perTenant?: number
}

export type ReadDocument = (request: DocumentRequest, signal: AbortSignal) => Promise<DocumentRead>

const FAILURE_BACKOFF_MS = 30_000
const MAX_FAILURES = 10_000
const PER_TENANT = 16
const UNAVAILABLE: DocumentRead = { kind: 'failed', cause: 'store_unavailable' }

interface ReadInProgress {
  readonly version: number
  readonly result: Promise<DocumentRead>
}

export function createDocumentReads(options: DocumentReadsOptions): ReadDocument {
  const failures = createFailures(options.nowMs)
  const lanes = createBulkhead(options.perTenant ?? PER_TENANT)
  const running = new Map<string, ReadInProgress>()
  const start = async (request: DocumentRequest, signal: AbortSignal): Promise<DocumentRead> => {
    const { tenant, namespace, label, version } = request
    const ask = () => options.secretsStore.readVersion(tenant, { namespace, label }, version)
    const answer = await lanes.run(tenant, ask, signal)
    // The deadline passed before the read could start, so no failure of the secret's path is recorded.
    if (answer === undefined) return UNAVAILABLE
    if (answer.kind === 'ok' && isWritten(request, answer)) return answer
    const cause = answer.kind === 'ok' ? 'replaced' : causeOf(answer.kind)
    failures.record(request, cause)
    return { kind: 'failed', cause }
  }
  return async (request, signal) => {
    const path = pathOf(request)
    for (;;) {
      const known = failures.of(request)
      if (known !== undefined) return { kind: 'failed', cause: known }
      const other = running.get(path)
      if (other === undefined) break
      const result = await untilAborted(signal, other.result, () => UNAVAILABLE)
      if (other.version === request.version || signal.aborted) return result
    }
    const result = start(request, signal).finally(() => running.delete(path))
    running.set(path, { version: request.version, result })
    return untilAborted(signal, result, () => UNAVAILABLE)
  }
}

const pathOf = ({ tenant, namespace, label }: DocumentRequest): string => `${tenant}/${namespace}/${label}`

/** Whether the document is the one that was written: a restored secrets store may give its number to another one. */
const isWritten = (request: DocumentRequest, read: ReadVersion): boolean =>
  request.storedAt === undefined || read.storedAt === undefined || request.storedAt === read.storedAt

function causeOf(kind: 'absent' | 'denied' | 'unavailable'): ReadCause {
  if (kind === 'unavailable') return 'store_unavailable'
  return kind === 'absent' ? 'missing' : 'denied'
}

interface Failures {
  of(request: DocumentRequest): ReadCause | undefined
  record(request: DocumentRequest, cause: ReadCause): void
}

/** Remembers failed reads. A missing or replaced version blocks only that version; every other failure blocks the whole path. */
function createFailures(nowMs: () => number): Failures {
  const known = createBoundedMap<string, { cause: ReadCause; until: number; revision: number }>(MAX_FAILURES)
  const ofVersion = (request: DocumentRequest): string => `${pathOf(request)}?${request.version}`
  return {
    of(request) {
      for (const key of [pathOf(request), ofVersion(request)]) {
        const found = known.get(key)
        if (found === undefined) continue
        if (found.revision === request.revision && nowMs() < found.until) return found.cause
        known.delete(key)
      }
      return undefined
    },
    record(request, cause) {
      const isOfVersion = cause === 'missing' || cause === 'replaced'
      const key = isOfVersion ? ofVersion(request) : pathOf(request)
      known.set(key, { cause, until: nowMs() + FAILURE_BACKOFF_MS, revision: request.revision })
    },
  }
}
