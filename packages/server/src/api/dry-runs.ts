// `?dryRun=true` for every write: a copy of the endpoint runs on a store that commits nothing and returns the plan. See
// docs/design/admission.md#dry-runs. Endpoints with their own dry run, such as deployment writes, are unchanged.

import { dryRunResultShape } from '@holdfast/contract'
import type { Store } from '../store/store.ts'
import { withoutWriting } from '../store/without-writing.ts'
import { type AnyEndpoint, type ApiRequest, type Endpoint, isOpen, respond } from './endpoint.ts'

/** Adds `?dryRun=true` to write endpoints. Dry runs use `replacements` for dependencies that act outside the store. */
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

/** Drops the idempotency key, so that the response of a dry run is not returned to a later request with that key. */
async function runDry(copy: Endpoint, { idempotencyKey: _key, ...request }: ApiRequest) {
  const outcome = await copy.handle(request)
  if (!outcome.ok || !('body' in outcome.value)) return outcome
  return respond(200, planned(outcome.value.body))
}

/** Body of a dry-run response that has only the plan: no warnings, and no changes by the server to the request. */
export const planned = <T>(plan: T) => ({ alterations: [], warnings: [], plan })
