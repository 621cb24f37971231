// Decides when a process renews its secret id, and what becomes of the previous one. Pure.

export interface Lifetime {
  readonly createdAtMs: number
  /** Undefined if the secret id never expires. */
  readonly expiresAtMs: number | undefined
}

/**
 * A secret id is renewed at half of its lifetime, so half of it remains for repairs. An unlimited one is not renewed: it is
 * from an older version, whose policies do not allow it, and an operator may have given it to several processes.
 */
export function isRenewalDue({ createdAtMs, expiresAtMs }: Lifetime, nowMs: number): boolean {
  return expiresAtMs !== undefined && nowMs >= createdAtMs + (expiresAtMs - createdAtMs) / 2
}

export interface PreviousSecretId {
  /** Whether the previous secret id is the one in use: the process ended before it replaced the file. */
  readonly isInUse: boolean
  readonly found: { readonly owner: 'process' | 'operator' } | 'absent'
}

/** `destroy` it in the store and then delete the note of it, or only `forget` it by deleting the note. */
export function planPrevious({ isInUse, found }: PreviousSecretId): 'destroy' | 'forget' {
  // Other processes may use a secret id that an operator distributed; it ends with its lifetime.
  return isInUse || found === 'absent' || found.owner === 'operator' ? 'forget' : 'destroy'
}
