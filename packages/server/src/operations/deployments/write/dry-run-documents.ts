// POST /api/v1/dry-run: judges several manifests in order of need. Each deployment is created or updated, and each job
// created, on the records that the accepted ones before it leave, with all their containers ready. Nothing is stored
// (docs/design/admission.md#dry-runs).

import {
  decode,
  dryRunDocumentsShape,
  isJsonObject,
  type Json,
  MOST_DOCUMENTS,
  type Rejection,
} from '@holdfast/contract'
import { orderByNeed, reject } from '@holdfast/core'
import { deployments } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, type Refused, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import type { RunDry } from '../../dry-runs.ts'
import { createJob } from '../../jobs/create-job.ts'
import type { DeploymentDeps } from '../deps.ts'
import type { PlacementDeps } from '../explain-placement.ts'
import { createDeployment } from './create-deployment.ts'
import { makeJobPlan, makePlan, type Plan } from './plan.ts'
import { updateDeployment } from './update-deployment.ts'
import type { Written } from './written.ts'

export interface DryRunDocumentsDeps extends Pick<PlacementDeps, 'quotas' | 'residency' | 'clock'> {
  readonly store: Store
  readonly runDry: RunDry
  /** The dependencies of one dry run, by the store on which a document is judged. */
  depsOn(): (store: Store) => DeploymentDeps
}

export interface JudgedDocument {
  readonly kind: string
  readonly name: string
}

export interface AcceptedDocument extends JudgedDocument, Pick<Written, 'alterations' | 'warnings'> {
  readonly action: Plan['action']
  readonly plan: Plan
}

export interface RejectedDocument extends JudgedDocument {
  readonly rejections: readonly Rejection[]
}

export type DocumentResult = AcceptedDocument | RejectedDocument

/** The results are in the order of the documents in the request. */
export async function dryRunDocuments(
  deps: DryRunDocumentsDeps,
  caller: Caller,
  sent: Json,
): Promise<Outcome<{ readonly items: readonly DocumentResult[] }>> {
  const faults = checkShape(dryRunDocumentsShape, sent, { checks: { documents: checkCount } })
  if (faults.length > 0) return refused(...faults)
  const { documents } = decode(dryRunDocumentsShape, sent)
  // Whether a document is a create or an update must not depend on how far the cache of this replica lags.
  await deps.store.fresh()
  const depsOn = deps.depsOn()
  const items: DocumentResult[] = []
  let { store } = deps
  for (const at of jobsLast(documents)) {
    const document = documents[at] ?? null
    const judge = namesIn(document).kind === JOB_KIND ? judgeJob : judgeDeployment
    const judged = await judge({ ...deps, store }, depsOn, caller, document)
    if (!judged.ok) return judged
    items[at] = judged.value.result
    store = judged.value.after
  }
  return done({ items })
}

function checkCount(documents: Json): Rejection | undefined {
  if (!Array.isArray(documents) || documents.length <= MOST_DOCUMENTS) return undefined
  return reject('list_too_long', 'documents', documents.length, { max: MOST_DOCUMENTS })
}

/** The documents in order of need, jobs last: a job may need a deployment, and no document needs a job. */
function jobsLast(documents: readonly Json[]): number[] {
  const { job = [], other = [] } = Object.groupBy(orderByNeed(documents), (at) =>
    namesIn(documents[at] ?? null).kind === JOB_KIND ? 'job' : 'other',
  )
  return [...other, ...job]
}

interface Judged {
  readonly result: DocumentResult
  /** The records that the next document sees. */
  readonly after: Store
}

/** A document without a usable name is judged as a new deployment, so that its rejection names the problem. */
async function judgeDeployment(
  deps: DryRunDocumentsDeps,
  depsOn: (store: Store) => DeploymentDeps,
  caller: Caller,
  document: Json,
): Promise<Outcome<Judged>> {
  const { store, runDry } = deps
  const { tenant } = caller
  const stored = store.get(inTenant(tenant, deployments, namesIn(document).name))?.record
  const planned = await runDry(tenant, store, (overlay) =>
    stored === undefined || stored.deleting
      ? createDeployment(depsOn(overlay), caller, document, ONCE)
      : updateDeployment(depsOn(overlay), caller, stored.spec.name, document, { ifMatch: undefined }),
  )
  if (!planned.ok) return rejected(store, document, planned)
  const { deployment, alterations, warnings } = planned.value.value
  const plan = makePlan(deps, tenant, deployment.name, planned.value)
  const names = { kind: deployment.kind, name: deployment.name }
  const result = { ...names, action: plan.action, alterations, warnings, plan }
  return done({ result, after: planned.value.after })
}

/** Names of jobs are not unique, so each document creates another job. */
async function judgeJob(
  deps: DryRunDocumentsDeps,
  depsOn: (store: Store) => DeploymentDeps,
  caller: Caller,
  document: Json,
): Promise<Outcome<Judged>> {
  const { store, runDry } = deps
  const planned = await runDry(caller.tenant, store, (overlay) =>
    createJob(depsOn(overlay), caller, document, ONCE),
  )
  if (!planned.ok) return rejected(store, document, planned)
  const { value, change, after } = planned.value
  const { job, alterations, warnings } = value
  const plan = makeJobPlan(deps, caller.tenant, job.id, { change, after })
  const result = { kind: job.kind, name: job.name, action: plan.action, alterations, warnings, plan }
  return done({ result, after })
}

const ONCE = { idempotency: undefined, answerOf: () => ({ status: 200, body: {} }) }
const JOB_KIND = 'Job'

/** A tenant with too many plans must retry the whole request. */
function rejected(store: Store, document: Json, refusal: Refused): Outcome<Judged> {
  if (refusal.retryAfterSeconds !== undefined) return refusal
  return done({ result: { ...namesIn(document), rejections: refusal.rejections }, after: store })
}

function namesIn(document: Json): JudgedDocument {
  const { kind, name } = isJsonObject(document) ? document : {}
  return { kind: typeof kind === 'string' ? kind : '', name: typeof name === 'string' ? name : '' }
}
