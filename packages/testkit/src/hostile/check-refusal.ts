// Checks whether a response is a well-formed rejection, with a code of the catalogue, a field, a link to the code's page,
// the status of the first rejection, and the list of all rejections. See docs/design/admission.md#rejections

import { CODES, entryOf, isCode } from '@holdfast/contract'
import type { RawAnswer } from './parse-answers.ts'

/** Response statuses of the HTTP layer, whose rejections have no error code. */
const LAYER_STATUSES: ReadonlySet<number> = new Set([408, 413, 431])

interface Rejection {
  readonly code?: unknown
  readonly field?: unknown
  readonly received?: unknown
  readonly expected?: unknown
  readonly why?: unknown
  readonly doc?: unknown
}

/** The status of the one request that is always rejected: the creation of a snapshot. */
const NOT_IMPLEMENTED = 501

/** Describes why the response is not a well-formed rejection; undefined if it is well-formed. */
export function refusalFault(answer: RawAnswer, baseUrl: string): string | undefined {
  const { status, headers, text } = answer
  const isRejection = (status >= 400 && status <= 499) || status === NOT_IMPLEMENTED
  if (!isRejection) return `status ${status} is not a rejection`
  if (headers['content-type'] !== 'application/json; charset=utf-8') return `type ${headers['content-type']}`
  const body: Rejection & { rejections?: Rejection[] } = JSON.parse(text)
  if (LAYER_STATUSES.has(status) && body.code === undefined) return undefined
  const listed = body.rejections ?? []
  const fault = listed.map((one) => recordFault(one, baseUrl)).find((one) => one !== undefined)
  if (fault !== undefined) return fault
  const { rejections: _all, ...first } = body
  if (JSON.stringify(listed[0]) !== JSON.stringify(first)) return 'the body is not the first rejection'
  return statusFault(String(first.code), status)
}

function recordFault(rejection: Rejection, baseUrl: string): string | undefined {
  const { code, field, received, expected, why, doc, ...more } = rejection
  if (typeof code !== 'string' || !CODES.some((known) => known === code)) return `code ${String(code)}`
  if (typeof field !== 'string' || field === '') return `${code}: field ${String(field)}`
  if (typeof received !== 'string' || received.length > 256) return `${code}: received`
  if (typeof expected !== 'string' || expected === '' || /\{\w+\}/.test(expected))
    return `${code}: ${expected}`
  if (typeof why !== 'string' || why === '' || /\{\w+\}/.test(why)) return `${code}: ${why}`
  if (doc !== `${baseUrl}/docs/errors/${code}`) return `${code}: doc ${String(doc)}`
  return Object.keys(more).length === 0 ? undefined : `${code}: ${Object.keys(more)}`
}

function statusFault(code: string, status: number): string | undefined {
  if (!isCode(code)) return `code ${code}`
  const { status: usual, alternativeStatus } = entryOf(code)
  return status === usual || status === alternativeStatus?.status ? undefined : `${code} with ${status}`
}

/** All error codes that the response lists, or its status if it lists none. */
export function codesOf(answer: RawAnswer | undefined): string[] {
  if (answer === undefined || answer.status < 400 || answer.text === '') return [codeOf(answer)]
  const { rejections }: { rejections?: Rejection[] } = JSON.parse(answer.text)
  return rejections === undefined ? [codeOf(answer)] : rejections.map(({ code }) => String(code))
}

export function codeOf(answer: RawAnswer | undefined): string {
  if (answer === undefined) return '(no answer)'
  if (answer.status < 400) return `${answer.status}`
  const body: Rejection = JSON.parse(answer.text || '{}')
  return String(body.code ?? answer.status)
}
