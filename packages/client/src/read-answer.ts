// From an answer to a value: what was asked for, a rejection with all its entries, or the finding that whoever answered
// does not speak this interface. A server may be a minor version ahead, so unknown fields of an answer are left out.

import { decodeKnown, list, object, rejectionShape, type Shape } from '@holdfast/contract'
import { type Failure, failed, type Result } from './result.ts'

const refusalShape = object({ ...rejectionShape.fields, rejections: list(rejectionShape) })

export function readAnswer<T>(response: Response, text: string, shape: Shape<T>): Result<T> {
  if (!response.ok) return failed(readRefusal(response, text))
  const value = tryDecode(shape, text)
  if (value === undefined) return failed(notOurs(response))
  const etag = response.headers.get('etag')?.replaceAll('"', '')
  return { ok: true, value, ...(etag === undefined ? {} : { etag }) }
}

export function readRefusal(response: Response, text: string): Failure {
  const { status } = response
  const refusal = tryDecode(refusalShape, text)
  if (refusal !== undefined) return { kind: 'rejected', status, rejections: refusal.rejections }
  const requestId = response.headers.get('x-request-id')
  if (requestId === null) return notOurs(response)
  return { kind: 'unexpected', status, reason: `the server failed; its request id is ${requestId}` }
}

export function notOurs(response: Response): Failure {
  return {
    kind: 'unexpected',
    status: response.status,
    reason: `what answered is no Holdfast server, or another version of it (${contentType(response)})`,
  }
}

export const NO_TYPE = 'no content type'

export const contentType = ({ headers }: Response): string =>
  headers.get('content-type')?.split(';')[0]?.trim() ?? NO_TYPE

function tryDecode<T>(shape: Shape<T>, text: string): T | undefined {
  try {
    return decodeKnown(shape, JSON.parse(text))
  } catch {
    return undefined
  }
}
