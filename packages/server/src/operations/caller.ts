// Who asks, as established once per request. Every operation takes it; the tenant in it is the only source of a TenantId.

import type { Rejection, Role, TenantId, TokenId } from '@holdfast/contract'
import { reject } from '@holdfast/core'

export interface Caller {
  /** The tenant acted in: the token's own, or the one that a platform administrator chose. */
  readonly tenant: TenantId
  readonly token: TokenId
  readonly role: Role
  /** A platform administrator acting in another tenant; audited as such. */
  readonly onBehalf: boolean
  readonly requestId: string
}

/** A rejection is a value (DESIGN 4): an operation either did what was asked or says why not, with every reason. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused

export interface Refused {
  readonly ok: false
  readonly rejections: readonly Rejection[]
  /** The first one answers with the second status of its catalogue entry. */
  readonly alternative?: boolean
  /** The same may be done then. */
  readonly retryAfterSeconds?: number
}

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })
export const refused = (...rejections: readonly Rejection[]): Refused => ({ ok: false, rejections })
/** Where the verdict also says which status its first rejection answers with. */
export function refusedBy({
  rejections,
  alternative,
}: Pick<Required<Refused>, 'rejections' | 'alternative'>): Refused {
  return { ok: false, rejections, alternative }
}
/** For now: too much was asked at once. */
export function limited(field: string, seconds: number): Refused {
  const rejection = reject('rate_limited', field, undefined, { seconds })
  return { ok: false, rejections: [rejection], retryAfterSeconds: seconds }
}
