// The caller of a request, as authentication found it. The caller's tenant is the only source of a TenantId.

import type { Rejection, Role, TenantId, TokenId } from '@holdfast/contract'
import { reject } from '@holdfast/core'

export interface Caller {
  /** The tenant of the caller's token, or the tenant that a platform administrator chose. */
  readonly tenant: TenantId
  readonly token: TokenId
  /** The name of the token; absent if a controller acts for an earlier request. */
  readonly tokenName?: string
  readonly role: Role
  /** The id of the sign-in, if the caller is a browser that signed in with the token. */
  readonly signIn?: string
  /** True for a platform administrator who acts in another tenant; the audit entry records it. */
  readonly onBehalf: boolean
  readonly requestId: string
}

/** The result of an operation: a value, or every reason why the operation was rejected. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused

export interface Refused {
  readonly ok: false
  readonly rejections: readonly Rejection[]
  /** True if the response uses the second status code that the error catalogue lists for the first rejection. */
  readonly alternative?: boolean
  /** Number of seconds after which the client may retry. */
  readonly retryAfterSeconds?: number
}

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })
export const refused = (...rejections: readonly Rejection[]): Refused => ({ ok: false, rejections })
/** Builds a rejected outcome from rejections and the choice between the two status codes of the first rejection. */
export function refusedBy({
  rejections,
  alternative,
}: Pick<Required<Refused>, 'rejections' | 'alternative'>): Refused {
  return { ok: false, rejections, alternative }
}
/** Rejects a request that exceeds a rate limit; the client may retry after `seconds`. */
export function limited(field: string, seconds: number): Refused {
  const rejection = reject('rate_limited', field, undefined, { seconds })
  return { ok: false, rejections: [rejection], retryAfterSeconds: seconds }
}
