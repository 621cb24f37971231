// The endpoint /api/v1/errors: the catalogue of rejection codes as data.

import { CODES, type Code, entryOf, isCode, list, listedCodeShape, object } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { done, refused } from '../../operations/caller.ts'
import { type Endpoint, endpoint, param } from '../endpoint.ts'

const codeView = (code: Code) => ({ code, ...entryOf(code) })

export function errorEndpoints(): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/errors', {
      operation: 'listErrorCodes',
      action: 'quotas:read',
      summary: 'List every code that a rejection may carry',
      shape: object({ items: list(listedCodeShape) }),
      run: () => done({ items: CODES.map(codeView) }),
    }),
    endpoint('GET', '/api/v1/errors/{code}', {
      operation: 'getErrorCode',
      action: 'quotas:read',
      summary: 'Read the meaning of a code',
      shape: listedCodeShape,
      codes: ['not_found'],
      run: (request) => {
        const code = param(request, 'code')
        return isCode(code) ? done(codeView(code)) : refused(reject('not_found', 'path', code))
      },
    }),
  ]
}
