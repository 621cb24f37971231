// `?dryRun=true` for every write: the same endpoint runs on an overlay of the stored records, and the response is the plan
// with the steps and effects that would follow. See docs/design/admission.md#dry-runs.

import { dryRunResultShape, dryRunShape, writtenShape } from '@holdfast/contract'
import { done, type Outcome } from '../operations/caller.ts'
import type { PlacementDeps } from '../operations/deployments/explain-placement.ts'
import { makePlan } from '../operations/deployments/write/plan.ts'
import type { Written } from '../operations/deployments/write/written.ts'
import type { DryWrite, RunDry } from '../operations/dry-runs.ts'
import { lostData } from '../operations/volumes/lost-data.ts'
import type { Store } from '../store/store.ts'
import {
  type AnyEndpoint,
  type ApiRequest,
  type ApiResponse,
  type Endpoint,
  isOpen,
  respond,
  respondWith,
} from './endpoint.ts'

export interface DryRunDeps {
  /** The dependencies that a plan explains placement with. */
  readonly placement: PlacementDeps & { readonly store: Store }
  readonly runDry: RunDry
  /** Creates the same endpoints on another store, without any effect outside that store. */
  compose(store: Store): readonly AnyEndpoint[]
}

/** Adds a dry run to every write of the endpoints. */
export function withDryRuns(endpoints: readonly AnyEndpoint[], deps: DryRunDeps): AnyEndpoint[] {
  return endpoints.map((endpoint, at) => (isWrite(endpoint) ? withDryRun(endpoint, at, deps) : endpoint))
}

const isWrite = (endpoint: AnyEndpoint): endpoint is Endpoint =>
  !isOpen(endpoint) && endpoint.method !== 'GET'

function withDryRun(endpoint: Endpoint, at: number, deps: DryRunDeps): Endpoint {
  const { success } = endpoint
  return {
    ...endpoint,
    query: [...endpoint.query, 'dryRun'],
    dryRun: success.shape === writtenShape ? dryRunShape : dryRunResultShape(success.shape),
    handle: (request) => (request.query.dryRun ? runDry(deps, at, request) : endpoint.handle(request)),
  }
}

/** Drops the idempotency key, so that the response of a dry run is not returned to a later request with that key. */
async function runDry(deps: DryRunDeps, at: number, { idempotencyKey: _key, ...request }: ApiRequest) {
  const { tenant } = request.caller
  const outcome = await deps.runDry(tenant, deps.placement.store, async (store) => {
    const copy = deps.compose(store)[at]
    if (copy === undefined || isOpen(copy)) throw new TypeError('the endpoint has no copy for dry runs')
    return bodyOf(await copy.handle(request))
  })
  return respondWith(outcome, (planned) => respond(200, planOf(deps, request, planned)))
}

function bodyOf(outcome: Awaited<ReturnType<Endpoint['handle']>>): Outcome<object> {
  if (!outcome.ok) return outcome
  const { body } = { body: {}, ...outcome.value } satisfies Partial<ApiResponse>
  return done(typeof body === 'string' ? {} : body)
}

function planOf(
  { placement }: DryRunDeps,
  { caller: { tenant } }: Pick<ApiRequest, 'caller'>,
  planned: DryWrite<object>,
) {
  const { value, change } = planned
  if (isWritten(value)) {
    const { deployment, alterations, warnings } = value
    return { alterations, warnings, plan: makePlan(placement, tenant, deployment.name, planned) }
  }
  const { steps } = change
  const effects = { ...change.effects, lostData: lostData(placement.store, planned.after, tenant) }
  const listOf = (list: unknown) => (Array.isArray(list) ? list : [])
  const { alterations, warnings } = { alterations: [], warnings: [], ...value }
  return {
    alterations: listOf(alterations),
    warnings: listOf(warnings),
    plan: { result: value, steps, effects },
  }
}

const isWritten = (body: object): body is Written => 'deployment' in body && 'alterations' in body
