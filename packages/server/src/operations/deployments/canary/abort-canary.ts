// POST /api/v1/deployments/{name}/canary/abort: ends a canary. Its replicas receive no further request and are removed.

import { abortCanary, checkCanaryRuns } from '@holdfast/core'
import { credentials, deployments } from '../../../store/records.ts'
import type { TransactionDecision } from '../../../store/store.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { type Caller, type Outcome, refused } from '../../caller.ts'
import { keepOnce } from '../../idempotency.ts'
import { checkIfMatch } from '../../preconditions.ts'
import { recordAudit, recordEvent } from '../../record-write.ts'
import { claimCredentials } from '../../secrets/versions/claim-credentials.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { findToChange } from '../read/find-deployment.ts'
import type { Written } from '../write/written.ts'
import { abortedEvent, claimedSpec, leftVersions } from './end-canary.ts'
import type { CanaryOptions } from './start-canary.ts'

export async function abortDeploymentCanary(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  options: CanaryOptions,
): Promise<Outcome<Written>> {
  return deps.store.transact<Outcome<Written>>((transaction) =>
    decideAbort(deps, transaction, caller, pathName, options),
  )
}

function decideAbort(
  deps: DeploymentDeps,
  transaction: Transaction,
  caller: Caller,
  pathName: string,
  options: CanaryOptions,
): TransactionDecision<Outcome<Written>> {
  const found = findToChange(deps.store, transaction, caller, pathName)
  if (!found.ok) return { kind: 'abort', result: found }
  const stored = found.value
  const conflict = checkIfMatch(options.ifMatch, stored.revision)
  if (conflict !== undefined) return { kind: 'abort', result: refused(conflict) }
  const { canary, spec } = stored
  const idle = checkCanaryRuns(canary)
  if (canary === undefined || idle.length > 0) return { kind: 'abort', result: refused(...idle) }
  const aborted = abortCanary(canary, 'aborted', deps.clock.now())
  const next = { ...stored, canary: aborted }
  const warnings = leftVersions(stored, canary, (label) =>
    transaction.get(inTenant(caller.tenant, credentials, label)),
  )
  claimCredentials(transaction, caller.tenant, claimedSpec(stored), spec, [])
  transaction.put(inTenant(caller.tenant, deployments, spec.name), next)
  recordEvent(transaction, deps.clock, caller.tenant, abortedEvent(next, aborted.since, 'aborted'))
  recordAudit(transaction, deps.clock, caller, {
    action: 'deployments:canary_aborted',
    subject: { kind: 'Deployment', name: spec.name },
    revision: stored.revision,
  })
  const deployment = deploymentView(deps.store, caller.tenant, next)
  return keepOnce(deps.answers, transaction, caller, options, { deployment, alterations: [], warnings })
}
