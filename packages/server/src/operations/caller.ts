// The caller of a request, established once by authentication. Its tenant is the only source of a TenantId.

import type { Rejection, Role, TenantId, TokenId } from '@holdfast/contract'
import { reject } from '@holdfast/core'

export interface Caller {
  /** The token's own tenant, or the one that a platform administrator chose. */
  readonly tenant: TenantId
  readonly token: TokenId
  readonly role: Role
  /** A platform administrator acting in another tenant; audited as such. */
  readonly onBehalf: boolean
  readonly requestId: string
}

/** The result of an operation: its value, or every reason why it was rejected. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused

export interface Refused {
  readonly ok: false
  readonly rejections: readonly Rejection[]
  /** The response has the second status code of the first rejection's catalogue entry. */
  readonly alternative?: boolean
  /** When the client may retry. */
  readonly retryAfterSeconds?: number
}

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })
export const refused = (...rejections: readonly Rejection[]): Refused => ({ ok: false, rejections })
/** For a verdict that also chooses the status code of its first rejection. */
export function refusedBy({
  rejections,
  alternative,
}: Pick<Required<Refused>, 'rejections' | 'alternative'>): Refused {
  return { ok: false, rejections, alternative }
}
/** Rejects one request too many; the client may retry after `seconds`. */
export function limited(field: string, seconds: number): Refused {
  const rejection = reject('rate_limited', field, undefined, { seconds })
  return { ok: false, rejections: [rejection], retryAfterSeconds: seconds }
}
