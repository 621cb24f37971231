// The members of a secrets store that keeps its data on several machines.

import type { Denied, Unavailable } from './secrets-store.ts'

export interface StoreMember {
  readonly name: string
  /** Host and port at which the other members reach it. */
  readonly address: string
  /** A member without a vote receives all data; the store lets it vote after some seconds. */
  readonly isVoter: boolean
}

/** `denied`: the policy of the identity is older than this question. */
export type StoreMembersRead =
  | { readonly kind: 'members'; readonly members: readonly StoreMember[] }
  | Denied
  | Unavailable
