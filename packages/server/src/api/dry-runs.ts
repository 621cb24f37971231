// Any write may be tried with `?dryRun=true`: its twin runs on a store that commits nothing, and the answer is the plan.
// DECISIONS 1. Those that plan by themselves, such as the writes of deployments, are left as they are.

import { dryRunResultShape } from '@holdfast/contract'
import type { Store } from '../store/store.ts'
import { withoutWriting } from '../store/without-writing.ts'
import { type AnyEndpoint, type ApiRequest, answer, type Endpoint, isOpen } from './endpoint.ts'

/** `instead`: what the twins get in place of whatever reaches beyond the store. */
export function withDryRuns<Deps extends { readonly store: Store }>(
  make: (deps: Deps) => readonly AnyEndpoint[],
  deps: Deps,
  instead: Partial<Deps> = {},
): AnyEndpoint[] {
  const twins = make({ ...deps, ...instead, store: withoutWriting(deps.store) })
  return make(deps).map((endpoint, at) => {
    const twin = twins[at]
    return twin !== undefined && isTriable(endpoint) && isTriable(twin) ? triable(endpoint, twin) : endpoint
  })
}

const isTriable = (endpoint: AnyEndpoint): endpoint is Endpoint =>
  !isOpen(endpoint) && endpoint.method !== 'GET' && endpoint.dryRun === undefined

function triable(endpoint: Endpoint, twin: Endpoint): Endpoint {
  return {
    ...endpoint,
    query: [...endpoint.query, 'dryRun'],
    dryRun: dryRunResultShape(endpoint.success.shape),
    handle: (request) => (request.query.dryRun ? tryOut(twin, request) : endpoint.handle(request)),
  }
}

/** What is only tried is not kept for a repeated request either. */
async function tryOut(twin: Endpoint, { idempotencyKey: _key, ...request }: ApiRequest) {
  const outcome = await twin.handle(request)
  if (!outcome.ok || !('body' in outcome.value)) return outcome
  return answer(200, planned(outcome.value.body))
}

/** Nothing about it is another than was asked for. */
export const planned = <T>(plan: T) => ({ alterations: [], warnings: [], plan })
