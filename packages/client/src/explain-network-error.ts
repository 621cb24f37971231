// Why did no answer come? One sentence without a stack, from what fetch leaves behind.

export interface NetworkError {
  readonly reason: string
  /** Asking again would end the same way. */
  readonly permanent: boolean
}

const TRANSIENT: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ETIMEDOUT: 'no answer came in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
  UND_ERR_SOCKET: 'the connection was cut',
}

const PERMANENT: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  CERT_NOT_YET_VALID: 'the certificate of the server is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the server is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the server is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the server is signed by an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another name',
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
