// What a call came to. A "no" of the server is a value with all its entries (SPEC 1); so is a server that cannot be reached.

import type { Rejection } from '@holdfast/contract'

export type Failure =
  | { readonly kind: 'rejected'; readonly status: number; readonly rejections: readonly Rejection[] }
  /** No answer came. Whether a write was done is then unknown. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** Something answered that does not speak this interface, or broke: a proxy's page, an error of the server's own. */
  | { readonly kind: 'unexpected'; readonly status: number; readonly reason: string }
  /** The caller gave it up. */
  | { readonly kind: 'interrupted' }

export type Result<T> =
  | { readonly ok: true; readonly value: T; readonly etag?: string }
  | { readonly ok: false; readonly failure: Failure }

export const failed = (failure: Failure): { readonly ok: false; readonly failure: Failure } => ({
  ok: false,
  failure,
})
