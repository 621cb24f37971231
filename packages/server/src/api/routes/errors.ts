// /api/v1/errors: the code catalogue as data. DECISIONS 1, Explain.

import { CODES, type Code, entryOf, isCode, list, listedCodeShape, object } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { answer, type Endpoint, param } from '../endpoint.ts'

const codeView = (code: Code) => ({ code, ...entryOf(code) })

export function errorEndpoints(): Endpoint[] {
  const common = { method: 'GET', action: 'quotas:read', query: [], headers: [] } as const
  return [
    {
      ...common,
      path: '/api/v1/errors',
      summary: 'List every code that a rejection may carry',
      success: { status: 200, shape: object({ items: list(listedCodeShape) }) },
      codes: [],
      handle: async () => answer(200, { items: CODES.map(codeView) }),
    },
    {
      ...common,
      path: '/api/v1/errors/{code}',
      summary: 'Read what a code means',
      success: { status: 200, shape: listedCodeShape },
      codes: ['not_found'],
      handle: async (request) => {
        const code = param(request, 'code')
        return isCode(code)
          ? answer(200, codeView(code))
          : { ok: false, rejections: [reject('not_found', 'path', code)] }
      },
    },
  ]
}
