// `?dryRun=true` for every write: a copy of the endpoint runs on a store that commits nothing and returns the plan. See
// docs/design/admission.md#dry-runs. Endpoints that plan themselves, such as deployment writes, are unchanged.

import { dryRunResultShape } from '@holdfast/contract'
import type { Store } from '../store/store.ts'
import { withoutWriting } from '../store/without-writing.ts'
import { type AnyEndpoint, type ApiRequest, type Endpoint, isOpen, respond } from './endpoint.ts'

/** `replacements` are the dependencies of the copies that would otherwise reach beyond the store. */
export function withDryRuns<Deps extends { readonly store: Store }>(
  create: (deps: Deps) => readonly AnyEndpoint[],
  deps: Deps,
  replacements: Partial<Deps> = {},
): AnyEndpoint[] {
  const copies = create({ ...deps, ...replacements, store: withoutWriting(deps.store) })
  return create(deps).map((endpoint, at) => {
    const copy = copies[at]
    return copy !== undefined && lacksDryRun(endpoint) && lacksDryRun(copy)
      ? withDryRun(endpoint, copy)
      : endpoint
  })
}

const lacksDryRun = (endpoint: AnyEndpoint): endpoint is Endpoint =>
  !isOpen(endpoint) && endpoint.method !== 'GET' && endpoint.dryRun === undefined

function withDryRun(endpoint: Endpoint, copy: Endpoint): Endpoint {
  return {
    ...endpoint,
    query: [...endpoint.query, 'dryRun'],
    dryRun: dryRunResultShape(endpoint.success.shape),
    handle: (request) => (request.query.dryRun ? runDry(copy, request) : endpoint.handle(request)),
  }
}

/** Drops the idempotency key: the response of a dry run is not kept for a repeated request. */
async function runDry(copy: Endpoint, { idempotencyKey: _key, ...request }: ApiRequest) {
  const outcome = await copy.handle(request)
  if (!outcome.ok || !('body' in outcome.value)) return outcome
  return respond(200, planned(outcome.value.body))
}

/** The response of a dry run whose plan equals the request. */
export const planned = <T>(plan: T) => ({ alterations: [], warnings: [], plan })
