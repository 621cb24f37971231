// POST /api/v1/dry-run: judges several manifests in order of need. Each is created or updated on the records that the
// accepted ones before it leave, with all their containers ready. Nothing is stored (docs/design/admission.md#dry-runs).

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
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { checkShape } from '../../check-shape.ts'
import type { RunDry } from '../../dry-runs.ts'
import type { DeploymentDeps } from '../deps.ts'
import type { PlacementDeps } from '../explain-placement.ts'
import { createDeployment } from './create-deployment.ts'
import { makePlan, type Plan } from './plan.ts'
import { updateDeployment } from './update-deployment.ts'
import type { Written } from './written.ts'

export interface DryRunDocumentsDeps extends Pick<PlacementDeps, 'quotas' | 'residency'> {
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
  for (const at of orderByNeed(documents)) {
    const judged = await judgeDocument({ ...deps, store }, depsOn, caller, documents[at] ?? null)
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

interface Judged {
  readonly result: DocumentResult
  /** The records that the next document sees. */
  readonly after: Store
}

/** A document without a usable name is judged as a new deployment, so that its rejection names the problem. */
async function judgeDocument(
  deps: DryRunDocumentsDeps,
  depsOn: (store: Store) => DeploymentDeps,
  caller: Caller,
  document: Json,
): Promise<Outcome<Judged>> {
  const { store, runDry } = deps
  const { tenant } = caller
  const { kind, name } = namesIn(document)
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  const once = { idempotency: undefined, answerOf: () => ({ status: 200, body: {} }) }
  const planned = await runDry(tenant, store, (overlay) =>
    stored === undefined || stored.deleting
      ? createDeployment(depsOn(overlay), caller, document, once)
      : updateDeployment(depsOn(overlay), caller, name, document, { ifMatch: undefined }),
  )
  if (planned.ok) {
    const { deployment, alterations, warnings } = planned.value.value
    const plan = makePlan(deps, tenant, deployment.name, planned.value)
    const names = { kind: deployment.kind, name: deployment.name }
    const result = { ...names, action: plan.action, alterations, warnings, plan }
    return done({ result, after: planned.value.after })
  }
  // A tenant with too many plans must retry the whole request.
  if (planned.retryAfterSeconds !== undefined) return planned
  return done({ result: { kind, name, rejections: planned.rejections }, after: store })
}

function namesIn(document: Json): JudgedDocument {
  const { kind, name } = isJsonObject(document) ? document : {}
  return { kind: typeof kind === 'string' ? kind : '', name: typeof name === 'string' ? name : '' }
}
