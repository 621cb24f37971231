// Explains in one phrase why a request got no response, from the error of fetch.

export interface NetworkError {
  readonly reason: string
  /** True if a retry cannot succeed, because it would fail with the same network error. */
  readonly permanent: boolean
}

const TRANSIENT: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'the host name lookup failed',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the server did not respond in time',
  UND_ERR_BODY_TIMEOUT: 'the response stopped halfway',
  UND_ERR_SOCKET: 'the connection was closed',
}

const PERMANENT: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the server's certificate is signed by an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another host name",
}

const MAX_CAUSES = 5

export function explainNetworkError(error: unknown): NetworkError {
  let cause = error
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    const code = codeOf(cause)
    const permanent = PERMANENT[code]
    const reason = permanent ?? TRANSIENT[code]
    if (reason !== undefined) return { reason, permanent: permanent !== undefined }
    if (cause instanceof AggregateError && cause.errors.length > 0) [cause] = cause.errors
    else if (cause.cause === undefined)
      return { reason: `the request failed: ${cause.message}`, permanent: false }
    else cause = cause.cause
  }
  return { reason: 'the request failed', permanent: false }
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}
