// Limits how many streams or commands a token may have open on this server replica.

import type { TokenId } from '@holdfast/contract'

export interface TokenLimit {
  /** Reserves a stream or command. Returns an idempotent release function, or undefined if the token is at its limit. */
  reserve(token: TokenId): (() => void) | undefined
}

export function createTokenLimit(maximum: number): TokenLimit {
  const reserved = new Map<TokenId, number>()
  const release = (token: TokenId): void => {
    const left = (reserved.get(token) ?? 1) - 1
    if (left === 0) reserved.delete(token)
    else reserved.set(token, left)
  }
  return {
    reserve(token) {
      const before = reserved.get(token) ?? 0
      if (before >= maximum) return undefined
      reserved.set(token, before + 1)
      let isHeld = true
      return () => {
        if (isHeld) release(token)
        isHeld = false
      }
    },
  }
}
