// POST /api/v1/dry-run: the plans of several manifests, of which nothing is stored.

import { dryRunDocumentsResultShape, dryRunDocumentsShape } from '@holdfast/contract'
import {
  type DocumentResult,
  type DryRunDocumentsDeps,
  dryRunDocuments,
} from '../../operations/deployments/write/dry-run-documents.ts'
import { type Endpoint, endpoint, respond, respondWith } from '../endpoint.ts'
import { rejectionBody } from '../reply.ts'

export function dryRunEndpoint(deps: DryRunDocumentsDeps & { readonly publicUrl: string }): Endpoint {
  const shown = (result: DocumentResult) => {
    if (!('rejections' in result)) return result
    const { kind, name, rejections } = result
    return { kind, name, rejections: rejectionBody(rejections, deps.publicUrl).rejections }
  }
  return endpoint('POST', '/api/v1/dry-run', {
    operation: 'dryRunDocuments',
    action: 'deployments:write',
    summary:
      'Judge and plan several manifests in order of need, each as if those before it were stored and ready; nothing is stored',
    body: dryRunDocumentsShape,
    shape: dryRunDocumentsResultShape,
    codes: ['field_unknown', 'field_type_invalid', 'list_too_long', 'rate_limited'],
    handle: async ({ caller, body }) =>
      respondWith(await dryRunDocuments(deps, caller, body), ({ items }) =>
        respond(200, { items: items.map(shown) }),
      ),
  })
}
