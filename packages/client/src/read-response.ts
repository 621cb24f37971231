// Decodes a response: the requested value, a rejection with all its errors, or a failure if the responder is not a
// Holdfast server. Fields unknown to this client are dropped, because the server may be newer.

import { decodeOpen, defined, list, object, rejectionShape, type Shape } from '@holdfast/contract'
import { type Failure, failed, type Result } from './result.ts'

const rejectionBodyShape = object({ ...rejectionShape.fields, rejections: list(rejectionShape) })

export function readResponse<T>(response: Response, text: string, shape: Shape<T>): Result<T> {
  if (!response.ok) return failed(readRejection(response, text))
  const value = tryDecode(shape, text)
  if (value === undefined) return failed(foreignResponse(response))
  const etag = response.headers.get('etag')?.replaceAll('"', '')
  return { ok: true, value, ...defined({ etag }) }
}

export function readRejection(response: Response, text: string): Failure {
  const { status } = response
  const refusal = tryDecode(rejectionBodyShape, text)
  if (refusal !== undefined) return { kind: 'rejected', status, rejections: refusal.rejections }
  const requestId = response.headers.get('x-request-id')
  if (requestId === null) return foreignResponse(response)
  return { kind: 'unexpected', status, reason: `internal server error; the request id is ${requestId}` }
}

export function foreignResponse(response: Response): Failure {
  return {
    kind: 'unexpected',
    status: response.status,
    reason: `the response is not from a Holdfast server of this version (${contentType(response)})`,
  }
}

export const NO_TYPE = 'no content type'

export const contentType = ({ headers }: Response): string =>
  headers.get('content-type')?.split(';')[0]?.trim() ?? NO_TYPE

function tryDecode<T>(shape: Shape<T>, text: string): T | undefined {
  try {
    return decodeOpen(shape, JSON.parse(text))
  } catch {
    return undefined
  }
}
