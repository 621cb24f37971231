// Records each write and the store's response. Every transaction leaves an audit entry whose request id names the write,
// so that etcd shows afterwards which writes were applied.

import type { TenantId } from '@holdfast/contract'
import { audit, deployments } from '@holdfast/server/store/records'
import { aDeployment, anAuditEntry } from '@holdfast/server/store/records.fixture'
import { type Store, StoreUnavailableError, type TransactionDecision } from '@holdfast/server/store/store'
import { inTenant, type Transaction } from '@holdfast/server/store/transaction'

export interface Step {
  readonly verb: 'put' | 'delete'
  readonly name: string
  readonly revision: number
}

interface Acknowledged extends Step {
  readonly transaction: string
}

export interface Ledger {
  readonly acknowledged: Acknowledged[]
  /** Writes for which the store reported an unknown outcome. */
  readonly uncertain: (Step & { readonly why: string })[]
  /** Rejections that no other writer can have caused, and other unexpected results. The list must be empty. */
  readonly violations: string[]
}

export const newLedger = (): Ledger => ({ acknowledged: [], uncertain: [], violations: [] })

export const textOf = ({ verb, name, revision }: Step): string => `${verb} ${name} ${revision}`

export interface Writing {
  readonly store: Store
  readonly tenant: TenantId
  readonly ledger: Ledger
  /** Number of padding bytes to add to each record. */
  padding(): number
}

/**
 * Writes revision `from + 1` of a deployment if its current revision is `from`; 0 means that the deployment does not
 * exist. Returns false if the outcome of the write is unknown.
 */
export async function putNext(writing: Writing, name: string, from: number): Promise<boolean> {
  const step: Step = { verb: 'put', name, revision: from + 1 }
  return take(writing, step, (transaction) => {
    const found = transaction.get(inTenant(writing.tenant, deployments, name))?.revision ?? 0
    return found === from ? write(writing, transaction, step) : { kind: 'abort', result: found }
  })
}

export async function removeAt(writing: Writing, name: string, revision: number): Promise<boolean> {
  const step: Step = { verb: 'delete', name, revision }
  return take(writing, step, (transaction) => {
    const found = transaction.get(inTenant(writing.tenant, deployments, name))?.revision ?? 0
    return found === revision ? write(writing, transaction, step) : { kind: 'abort', result: found }
  })
}

/** Writes the next revision of a deployment that many writers share, whatever its current revision is. */
export async function bump(writing: Writing, name: string): Promise<void> {
  let step: Step = { verb: 'put', name, revision: 0 }
  await take(
    writing,
    () => step,
    (transaction) => {
      const found = transaction.get(inTenant(writing.tenant, deployments, name))?.revision ?? 0
      step = { ...step, revision: found + 1 }
      return write(writing, transaction, step)
    },
  )
}

/** Result of a write: the transaction, or the revision found in the store if the write was rejected. */
type StepResult = { readonly transaction: string } | number

async function take(
  { store, ledger }: Writing,
  step: Step | (() => Step),
  decide: (transaction: Transaction) => TransactionDecision<StepResult>,
): Promise<boolean> {
  const stepTaken = () => (typeof step === 'function' ? step() : step)
  try {
    const result = await store.transact(decide)
    if (typeof result === 'number') ledger.violations.push(`${textOf(stepTaken())} was rejected at ${result}`)
    else ledger.acknowledged.push({ ...stepTaken(), ...result })
    return typeof result !== 'number'
  } catch (error) {
    if (!(error instanceof StoreUnavailableError))
      ledger.violations.push(`${textOf(stepTaken())}: ${String(error)}`)
    ledger.uncertain.push({ ...stepTaken(), why: String(error) })
    return false
  }
}

function write(
  { tenant, padding }: Writing,
  transaction: Transaction,
  step: Step,
): TransactionDecision<StepResult> {
  const { name, revision } = step
  const address = inTenant(tenant, deployments, name)
  if (step.verb === 'delete') transaction.delete(address)
  else {
    const fill = { tx: transaction.id, revision, specHash: 'x'.repeat(padding()) }
    transaction.put(address, aDeployment(name, fill))
  }
  transaction.put(inTenant(tenant, audit, transaction.id), anAuditEntry(tenant, transaction.id, textOf(step)))
  return { kind: 'commit', result: { transaction: transaction.id } }
}
