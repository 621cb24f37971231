// Checks that the responses to writers, the notifications of listeners and the contents of etcd agree.

import type { TenantId } from '@holdfast/contract'
import type { KeyValue, KeyValueEngine } from '@holdfast/server/ports/key-value'
import { listPages } from '@holdfast/server/store/cache/list-pages'
import { decodeRecord } from '@holdfast/server/store/encode'
import type { Keyspace } from '@holdfast/server/store/keys'
import { audit, deployments } from '@holdfast/server/store/records'
import type { ChangeLog } from './change-log.ts'
import { type Ledger, type Step, textOf } from './write-ledger.ts'

/** The final contents of etcd, read directly and not through the product's store. */
export interface Truth {
  readonly keyspace: Keyspace
  readonly tenant: TenantId
  readonly stored: ReadonlyMap<string, KeyValue>
  /** Content of the receipts in etcd by transaction id: each applied transaction leaves one receipt. */
  readonly receipts: ReadonlyMap<string, string>
}

export async function readTruth(
  engine: KeyValueEngine,
  keyspace: Keyspace,
  tenant: TenantId,
): Promise<Truth> {
  const stored = new Map<string, KeyValue>()
  for await (const page of listPages(engine, keyspace.everything()))
    for (const kv of page.kvs) stored.set(kv.key, kv)
  const receipts = new Map<string, string>()
  for (const [key, kv] of stored) {
    if (keyspace.parse(key)?.folder !== audit.folder) continue
    const { id, requestId } = decodeRecord(audit, kv.value)
    receipts.set(id, requestId)
  }
  return { keyspace, tenant, stored, receipts }
}

/** Compares etcd with the responses to writers. Each returned text describes a violation. */
export function checkWrites(truth: Truth, ledger: Ledger): string[] {
  const faults = [...ledger.violations]
  const acknowledged = new Map(ledger.acknowledged.map((step) => [step.transaction, step]))
  const doubtful = new Set(ledger.uncertain.map(textOf))
  for (const [transaction, step] of acknowledged) {
    const receipt = truth.receipts.get(transaction)
    if (receipt !== textOf(step)) faults.push(`lost: ${textOf(step)} (receipt: ${receipt ?? 'none'})`)
  }
  const happened = new Set<string>()
  for (const [transaction, receipt] of truth.receipts) {
    if (happened.has(receipt)) faults.push(`applied twice: ${receipt}`)
    happened.add(receipt)
    if (!acknowledged.has(transaction) && !doubtful.has(receipt)) faults.push(`never reported: ${receipt}`)
  }
  return [...faults, ...checkFinalStates(truth, happened)]
}

/** Checks that etcd has each deployment as its last applied write left it, and that no earlier write is missing. */
function checkFinalStates(truth: Truth, happened: ReadonlySet<string>): string[] {
  const faults: string[] = []
  const removed = new Set<string>()
  const newest = new Map<string, number>()
  for (const { verb, name, revision } of [...happened].map(parseStep)) {
    if (verb === 'delete') removed.add(name)
    newest.set(name, Math.max(newest.get(name) ?? 0, revision))
  }
  for (const [name, revision] of newest) {
    for (let step = 1; step <= revision; step += 1)
      if (!happened.has(textOf({ verb: 'put', name, revision: step }))) faults.push(`gap: ${name} ${step}`)
    const found = storedRevision(truth, name)
    const expected = removed.has(name) ? undefined : revision
    if (found !== expected) faults.push(`${name} is at ${found}, its receipts end at ${expected}`)
  }
  return faults
}

function parseStep(text: string): Step {
  const [verb, name = '', revision] = text.split(' ')
  return { verb: verb === 'delete' ? 'delete' : 'put', name, revision: Number(revision) }
}

function storedRevision({ keyspace, tenant, stored }: Truth, name: string): number | undefined {
  const kv = stored.get(keyspace.tenantKey(tenant, deployments.folder, name))
  return kv && decodeRecord(deployments, kv.value).revision
}

/** Checks that a listener whose cache never listed everything again was notified of every event exactly once. */
export function checkEveryEvent(truth: Truth, log: ChangeLog): string[] {
  const faults: string[] = []
  const expectedPuts = new Map<string, number>()
  const expectedDeletes = new Map<string, number>()
  for (const receipt of truth.receipts.values()) {
    const { verb, name } = parseStep(receipt)
    const key = truth.keyspace.tenantKey(truth.tenant, deployments.folder, name)
    const counted = verb === 'put' ? expectedPuts : expectedDeletes
    counted.set(key, (counted.get(key) ?? 0) + 1)
  }
  for (const [key, kv] of truth.stored) if (!expectedPuts.has(key)) expectedPuts.set(key, kv.version)
  compare(faults, 'puts', expectedPuts, log.puts)
  compare(faults, 'deletes', expectedDeletes, log.deletes)
  return faults
}

function compare(
  faults: string[],
  what: string,
  expected: ReadonlyMap<string, number>,
  notified: ReadonlyMap<string, number>,
): void {
  for (const key of new Set([...expected.keys(), ...notified.keys()])) {
    const [should, was] = [expected.get(key) ?? 0, notified.get(key) ?? 0]
    if (should !== was) faults.push(`${key}: ${was} ${what} notified, ${should} applied`)
  }
}

/**
 * Checks that a listener whose cache listed everything again was notified of the final state of every key, and never
 * twice of one state.
 */
export function checkFinalEvents(truth: Truth, log: ChangeLog): string[] {
  const faults = log.repeated.map((key) => `notified twice in the same state: ${key}`)
  for (const [key, kv] of truth.stored) {
    const folder = truth.keyspace.parse(key)?.folder
    if (folder === deployments.folder && log.states.get(key) !== kv.modRevision)
      faults.push(`${key} was last notified at ${log.states.get(key)}, it is at ${kv.modRevision}`)
    if (folder === audit.folder && log.puts.get(key) !== 1)
      faults.push(`${key}: notified ${log.puts.get(key) ?? 0} times`)
  }
  for (const [key, state] of log.states)
    if (!truth.stored.has(key) && state !== 0)
      faults.push(`${key} is deleted and was last notified at ${state}`)
  return faults
}
