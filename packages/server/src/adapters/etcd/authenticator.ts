// The auth token for an etcd with users: fetched once, shared by all calls, and renewed when a call reports that the
// token is no longer valid.

export interface Authenticator {
  /** The current auth token; undefined when no etcd user is configured. */
  token(): Promise<string | undefined>
  /** Forgets the token `stale`; the next `token()` fetches a new token. Many calls may report the same stale token. */
  discard(stale: string | undefined): void
}

export const anonymous: Authenticator = { token: async () => undefined, discard: () => {} }

export function makeAuthenticator(fetchToken: () => Promise<string>): Authenticator {
  let pending: Promise<string> | undefined
  let known: string | undefined

  async function fetchOnce(): Promise<string> {
    try {
      known = await fetchToken()
      return known
    } catch (error) {
      pending = undefined
      throw error
    }
  }

  return {
    token() {
      pending ??= fetchOnce()
      return pending
    },
    discard(stale) {
      if (stale !== known) return
      pending = undefined
      known = undefined
    },
  }
}
