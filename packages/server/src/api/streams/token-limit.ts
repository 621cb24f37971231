// How many of something a token may have open on this server replica. SAFETY 2, row 21.

import type { TokenId } from '@holdfast/contract'

export interface TokenPlaces {
  /** What gives the place back, once however often it is called; undefined where the token has all that it may have. */
  take(token: TokenId): (() => void) | undefined
}

export function createTokenPlaces(most: number): TokenPlaces {
  const taken = new Map<TokenId, number>()
  const giveBack = (token: TokenId): void => {
    const left = (taken.get(token) ?? 1) - 1
    if (left === 0) taken.delete(token)
    else taken.set(token, left)
  }
  return {
    take(token) {
      const before = taken.get(token) ?? 0
      if (before >= most) return undefined
      taken.set(token, before + 1)
      let held = true
      return () => {
        if (held) giveBack(token)
        held = false
      }
    },
  }
}
