// Writes a version of a secret. The values pass through to the request and are kept in no cache. The write has no
// Idempotency-Key, so an unknown outcome is read back from the list of versions.

import type { SentSecret } from '@holdfast/client'
import type { SecretWritten } from '@holdfast/contract'
import { useValueAct, type ValueState } from '../acts/use-value-act.ts'
import { useSession } from '../session.tsx'

export interface SecretPath {
  readonly namespace: string
  readonly resource: string
}

export function useWriteSecret(): {
  readonly state: ValueState<SecretWritten>
  /** `keep`: the keys that are not sent stay as they are; otherwise they are dropped. */
  write(path: SecretPath, sent: SentSecret, keep: boolean): Promise<void>
} {
  const { client } = useSession()
  const { state, run } = useValueAct<SecretWritten>()
  return {
    state,
    write: ({ namespace, resource }, sent, keep) =>
      run(() => (keep ? client.secrets.add : client.secrets.set)(namespace, resource, sent)),
  }
}
