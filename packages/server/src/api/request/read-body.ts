// Parses a request body as strict JSON. The HTTP server has limited its size. See docs/design/admission.md#strict-bodies.

import {
  isJsonObject,
  type Json,
  parseStrictJson,
  type Rejection,
  type StrictJsonFault,
} from '@holdfast/contract'
import { reject, safeField } from '@holdfast/core'
import type { DescribedEndpoint } from '../endpoint.ts'

export type BodyOutcome =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly rejection: Rejection }

export interface SentBody {
  /** Body of the request. Undefined if there is none, and for GET, whose body is not read. */
  readonly body: unknown
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** Maximum number of JSON values in a body: ten times the number in the largest deployment, parsed in milliseconds. */
const MAX_VALUES = 20_000

export function readBody(endpoint: DescribedEndpoint, sent: SentBody, maxDepth: number): BodyOutcome {
  const { body: bytes } = sent
  if (endpoint.body === undefined) {
    return isEmpty(sent) ? { ok: true, value: null } : malformed('this request must have no body')
  }
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return malformed('it is empty')
  const parsed = parseStrictJson(bytes, { maxDepth, maxValues: MAX_VALUES })
  if (!parsed.ok) return malformed(explain(parsed.fault))
  return isJsonObject(parsed.value) ? parsed : malformed('it is not a JSON object')
}

function explain({ message, line, column, path }: StrictJsonFault): string {
  const where = path === undefined ? '' : ` at ${safeField(path)}`
  return `${message}${where} (line ${line}, column ${column})`
}

function isEmpty({ body, headers }: SentBody): boolean {
  if (body instanceof Uint8Array) return body.length === 0
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return length === '0' && encoding === undefined
}

function malformed(fault: string): BodyOutcome {
  return { ok: false, rejection: reject('body_malformed', 'body', undefined, { fault }) }
}
