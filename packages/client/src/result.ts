// The result of an API call. Rejections and connection failures are returned as values, never thrown as exceptions.

import type { Rejection } from '@holdfast/contract'

export type Failure =
  | { readonly kind: 'rejected'; readonly status: number; readonly rejections: readonly Rejection[] }
  /** No response arrived. A write may or may not have been applied. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The response is not from this API, such as the error page of a proxy, or is an internal server error. */
  | { readonly kind: 'unexpected'; readonly status: number; readonly reason: string }
  /** The caller aborted the call. */
  | { readonly kind: 'interrupted' }

export type Result<T> =
  | { readonly ok: true; readonly value: T; readonly etag?: string }
  | { readonly ok: false; readonly failure: Failure }

export const failed = (failure: Failure): { readonly ok: false; readonly failure: Failure } => ({
  ok: false,
  failure,
})
