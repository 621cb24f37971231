// Writes a version of a secret, or deletes a secret. The values pass through to the request and are kept in no cache.

import type { Result, SentSecret } from '@holdfast/client'
import type { SecretWritten } from '@holdfast/contract'
import { useState } from 'react'
import { CallError } from '../failure.ts'
import { useSession } from '../session.tsx'

export type WriteState<T> =
  | { readonly kind: 'idle' | 'running' | 'unknown' }
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: CallError }

export interface SecretPath {
  readonly namespace: string
  readonly resource: string
}

export function useWriteSecret(): {
  readonly state: WriteState<SecretWritten>
  /** `keep`: the keys that are not sent stay as they are; otherwise they are dropped. */
  write(path: SecretPath, sent: SentSecret, keep: boolean): Promise<void>
} {
  const { client } = useSession()
  const [state, setState] = useState<WriteState<SecretWritten>>({ kind: 'idle' })
  return {
    state,
    async write({ namespace, resource }, sent, keep) {
      setState({ kind: 'running' })
      const call = keep ? client.secrets.add : client.secrets.set
      setState(stateOf(await call(namespace, resource, sent)))
    },
  }
}

/** A write of a secret has no Idempotency-Key, so an unknown outcome is read back from the list of versions. */
function stateOf<T>(result: Result<T>): WriteState<T> {
  if (result.ok) return { kind: 'done', value: result.value }
  return result.failure.kind === 'unreachable'
    ? { kind: 'unknown' }
    : { kind: 'failed', error: new CallError(result.failure) }
}
