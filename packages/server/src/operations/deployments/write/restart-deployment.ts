// POST /api/v1/deployments/{name}/restart: recreates every replica with the update strategy. A restart is a new revision
// with an unchanged spec and the newest versions of the deployment's secrets.

import { explainResidency, planPins } from '@holdfast/core'
import { timestamp } from '../../../ports/clock.ts'
import type { StoredDeployment } from '../../../store/records.ts'
import type { TransactionDecision } from '../../../store/store.ts'
import type { Transaction } from '../../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { type Kept, keepOnce } from '../../idempotency.ts'
import { checkIfMatch } from '../../preconditions.ts'
import { credentialFacts, gatherCredentials } from '../../secrets/versions/claim-credentials.ts'
import { supersededCanary, supersededWarning } from '../canary/end-canary.ts'
import type { DeploymentDeps } from '../deps.ts'
import { deploymentView } from '../read/deployment-view.ts'
import { findToChange } from '../read/find-deployment.ts'
import { gatherResidency } from './gather-facts.ts'
import { storedPins } from './judge-secrets.ts'
import { stopFirstOf } from './stop-first.ts'
import { storeRevision } from './store-deployment.ts'
import type { Written } from './written.ts'

export interface RestartOptions extends Kept<Written> {
  readonly ifMatch: string | undefined
}

export async function restartDeployment(
  deps: DeploymentDeps,
  caller: Caller,
  pathName: string,
  options: RestartOptions,
): Promise<Outcome<Written>> {
  return deps.store.transact<Outcome<Written>>((transaction) => {
    const found = findToRestart(deps, transaction, caller, pathName, options.ifMatch)
    return found.ok
      ? decideRestart(deps, transaction, caller, found.value, options)
      : { kind: 'abort', result: found }
  })
}

function findToRestart(
  deps: DeploymentDeps,
  transaction: Transaction,
  caller: Caller,
  pathName: string,
  ifMatch: string | undefined,
): Outcome<StoredDeployment> {
  const found = findToChange(deps.store, transaction, caller, pathName)
  if (!found.ok) return found
  const stored = found.value
  const conflict = checkIfMatch(ifMatch, stored.revision)
  // The spec does not grow, so a full byte quota does not reject a restart.
  return conflict === undefined ? done(stored) : refused(conflict)
}

function decideRestart(
  deps: DeploymentDeps,
  transaction: Transaction,
  caller: Caller,
  stored: StoredDeployment,
  options: RestartOptions,
): TransactionDecision<Outcome<Written>> {
  const revision = stored.revision + 1
  const changed = {
    revision,
    restartRevision: revision,
    updatedAt: timestamp(deps.clock),
    tx: transaction.id,
  }
  const { pins: before = {}, canary: _canary, ...kept } = stored
  const { secrets: entries } = stored.spec
  const credentials = credentialFacts(gatherCredentials(transaction, caller.tenant, stored.spec))
  const staged = new Map<string, number>()
  const { pins, alterations: pinned } = planPins({
    entries,
    before: entries,
    pins: before,
    credentials,
    staged,
  })
  const next = { ...kept, ...storedPins(pins), ...changed, ...supersededCanary(stored, deps.clock) }
  const alterations = [...pinned, ...stopFirstOf(deps, caller.tenant, next)]
  const deployment = deploymentView(deps.store, caller.tenant, next)
  const { residency } = gatherResidency(deps, caller.tenant, stored.spec)
  const demand = stored.spec.placement?.residency
  const demanded = residency === undefined ? [] : explainResidency(demand, residency)
  const warnings = [...demanded, ...supersededWarning(stored)]
  const written = { deployment, alterations, warnings }
  const message = `Deployment ${next.spec.name} is restarted, revision ${revision}.`
  storeRevision(deps, transaction, caller, next, { cause: { verb: 'restarted', message } })
  return keepOnce(deps.answers, transaction, caller, options, written)
}
