// One request as data, and how it is written for fetch.

import { type Json, jsonText } from '@holdfast/contract'
import type { Connection } from './connection.ts'

/**
 * When a request may be sent again. `safe`: it changes nothing, or carries the Idempotency-Key of its intent. `refused`:
 * only after the server said that it did not look at it (429), since a lost answer leaves open whether it was done.
 */
type Repeat = 'safe' | 'refused'

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: { readonly [name: string]: string | number | boolean | undefined }
  readonly body?: Json | undefined
  readonly ifMatch?: string | undefined
  /** Made once per intent; the same one goes with every repetition. */
  readonly idempotencyKey?: string | undefined
  readonly headers?: { readonly [name: string]: string }
  readonly repeat: Repeat
  readonly signal?: AbortSignal | undefined
}

/**
 * A part of a path. A URL resolves dots before it is sent, encoded or not, and would then name something else: they are
 * sent as what nothing is called.
 */
export function segment(text: string): string {
  return /^\.{0,2}$/.test(text) ? '~' : encodeURIComponent(text)
}

export function urlOf({ baseUrl }: Connection, { path, query = {} }: ApiCall): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `${baseUrl}/api/v1${path}${given.length === 0 ? '' : `?${given.join('&')}`}`
}

export function initOf({ token, tenant }: Connection, call: ApiCall, signal: AbortSignal): RequestInit {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }),
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(call.ifMatch === undefined ? {} : { 'if-match': `"${call.ifMatch}"` }),
    ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
    ...call.headers,
  }
  const body = call.body === undefined ? {} : { body: jsonText(call.body) }
  // A redirect would carry the token to whoever the answer names.
  return { method: call.method, headers, ...body, signal, redirect: 'error' }
}
