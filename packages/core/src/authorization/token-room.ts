// Whether a tenant may have one more API token, and which expired ones make room for it. Expired tokens stay listed for a
// while, so that an operator sees why a script stopped, but they take no place of tokens in use.

interface KnownToken {
  readonly id: string
  readonly expiresAt: string
}

export interface TokenRoom {
  /** Tokens that have not expired. */
  readonly used: number
  /** Expired tokens to delete, so that all tokens of the tenant, with a new one, are at most as many as the limit. */
  readonly surplus: readonly string[]
}

/** The most expired tokens that one issue deletes, because a transaction is limited; the sweep deletes the others. */
const MOST_DELETED = 50

export function judgeTokenRoom(tokens: readonly KnownToken[], limit: number, now: number): TokenRoom {
  const expired = tokens
    .map(({ id, expiresAt }) => ({ id, at: Date.parse(expiresAt) }))
    .filter(({ at }) => at <= now)
    .sort((left, right) => left.at - right.at || (left.id < right.id ? -1 : 1))
  const excess = Math.max(0, tokens.length + 1 - limit)
  return {
    used: tokens.length - expired.length,
    surplus: expired.slice(0, Math.min(excess, MOST_DELETED)).map(({ id }) => id),
  }
}
