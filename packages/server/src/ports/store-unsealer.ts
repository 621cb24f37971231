// The interface of a secrets store that is brought into service: setup initializes and unseals it, the doctor reads its seal.

import type { Secret } from './secret.ts'

export interface StoreKeys {
  readonly unsealKey: Secret
  /** The root token of a new store, to be revoked when the identities are issued. */
  readonly operatorToken: Secret
}

export interface StoreUnsealer {
  /** The state of the store; undefined if it does not answer. `empty`: not initialized. */
  status(): Promise<'empty' | 'sealed' | 'unsealed' | undefined>
  /** Initializes an empty store with one key; undefined if it did not. */
  initialize(): Promise<StoreKeys | undefined>
  /** Whether the empty store asked the member at `leader` to join it; the next `unseal` completes the join. */
  join(leader: string, ca: string): Promise<boolean>
  /** Whether the store accepted the key. One that joins others is unsealed a moment later. */
  unseal(key: Secret): Promise<boolean>
  /** Whether the store serves as the active member or a standby: one that was just unsealed may need a moment. */
  isServing(): Promise<boolean>
  /** Whether the token is revoked afterwards. */
  revoke(token: Secret): Promise<boolean>
  close(): void
}
