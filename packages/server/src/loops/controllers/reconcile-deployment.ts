// One look at one deployment: a decision on what the cache shows and, where there is something to write, one fenced
// transaction that compares everything that was decided on. SAFETY 4a and 4b.

import { asTenantId, type DeploymentUid, type TenantId } from '@holdfast/contract'
import { recordEvent, recordEventOnce } from '../../operations/record-write.ts'
import { timestamp } from '../../ports/clock.ts'
import { deployments, nodes, observations, placements, type StoredDeployment } from '../../store/records.ts'
import { getOr, inTenant, type Transaction } from '../../store/transaction.ts'
import { LostLeadershipError } from '../leadership/fence.ts'
import { type Controller, type KnownTenant, keyOf, TENANT_LENGTH, tenantOf } from './controller.ts'
import { decidePlacement } from './decide-placement.ts'
import type { Decision } from './decision.ts'
import { eventsOf } from './placement-events.ts'
import { dropMatrix, isLarge, recordDecision, storeMatrix } from './record-decision.ts'

export async function reconcileDeployment(controller: Controller, key: string): Promise<void> {
  const tenant = asTenantId(key.slice(0, TENANT_LENGTH))
  const name = key.slice(TENANT_LENGTH + 1)
  const { leadership, store } = controller.deps
  if (!leadership.owns(tenant)) return
  const stored = store.get(inTenant(tenant, deployments, name))?.record
  if (stored === undefined) return
  const known = tenantOf(controller, tenant)
  const decision = decide(controller, known, tenant, stored)
  if (decision === undefined) return
  try {
    await write(controller, known, tenant, decision)
  } catch (error) {
    known.view.release(decision.stored.uid)
    // Not ours any more: whoever owns it now does the work, and we when it is ours again.
    if (!(error instanceof LostLeadershipError)) throw error
  }
}

function decide(
  { deps: { store, clock, residency }, due }: Controller,
  { view, waiting, dependents, listensUntil }: KnownTenant,
  tenant: TenantId,
  stored: StoredDeployment,
): Decision | undefined {
  const { name, placement } = stored.spec
  const outcome = decidePlacement(
    { store, tenant, view, residency, listensUntil, now: timestamp(clock) },
    stored,
  )
  if (outcome.cures.length === 0) waiting.forget(name)
  else waiting.wait(name, outcome.cures, placement?.affinity !== undefined)
  const others = outcome.unmet.map((each) => each.name)
  if (others.length === 0) dependents.forget(name)
  else dependents.wait(name, others)
  due.note(keyOf(tenant, name), outcome.plan.lookAgainAt)
  return outcome.settled ? undefined : outcome
}

/** Decided before, on what the cache showed; decided anew whenever the store says that something has changed since. */
async function write(
  controller: Controller,
  known: KnownTenant,
  tenant: TenantId,
  first: Decision,
): Promise<void> {
  const { leadership, clock, store } = controller.deps
  const nodeName = (id: string) => store.get(inTenant(tenant, nodes, id))?.record.name ?? id
  const parts = eventsOf(first, nodeName).before
  for (const event of parts)
    await leadership.fenced(tenant, (transaction) => {
      // Whoever led before may have told it already.
      const isNews = recordEventOnce(transaction, clock, tenant, event)
      return { kind: isNews ? 'commit' : 'abort', result: undefined }
    })
  // Not to be waited for otherwise: what the cache showed to the decision is what the transaction has to compare.
  const matrix = isLarge(first) ? await storeMatrix(leadership, tenant, first) : undefined
  let decided = parts.length === 0 && matrix === undefined ? first : undefined
  const isWritten = await leadership.fenced<boolean>(tenant, (transaction) => {
    const stored = transaction.get(inTenant(tenant, deployments, first.stored.spec.name))
    transaction.get(inTenant(tenant, placements, first.stored.uid))
    const isOver = stored?.uid !== first.stored.uid
    const decision = decided ?? (stored && decide(controller, known, tenant, stored))
    decided = undefined
    if (isOver) giveBack(controller, known, tenant, first.stored.uid)
    if (decision === undefined || isOver) return { kind: 'abort', result: true }
    if (!recordDecision(transaction, tenant, decision, matrix)) return { kind: 'abort', result: false }
    stage(transaction, tenant, decision)
    const decidedAt = { now: () => Date.parse(decision.now) }
    for (const [place, event] of eventsOf(decision, nodeName).within.entries())
      recordEvent(transaction, decidedAt, tenant, { place, ...event })
    return { kind: 'commit', result: true }
  })
  if (isWritten) return
  // What was decided meanwhile is another decision, of a matrix that is not stored yet.
  controller.queue.add(keyOf(tenant, first.stored.spec.name))
  if (matrix !== undefined) await dropMatrix(leadership, tenant, matrix)
}

/** No record will come of what was reserved, by which the view and whoever waits for the room would see that it is over. */
function giveBack({ queue }: Controller, known: KnownTenant, tenant: TenantId, uid: DeploymentUid): void {
  known.view.release(uid)
  for (const name of known.waiting.curedBy('placements')) queue.add(keyOf(tenant, name))
}

function stage(transaction: Transaction, tenant: TenantId, decision: Decision): void {
  // One that is lost must be absent and not merely unreadable; one that is chosen must still be as it was.
  for (const id of decision.nodeIds) transaction.get(inTenant(tenant, nodes, id))
  // What cannot be read was decided on as if nothing had been seen, and keeps nobody from deciding.
  for (const id of decision.seenIds) getOr(transaction, inTenant(tenant, observations, id), undefined)
  const address = inTenant(tenant, placements, decision.stored.uid)
  if (decision.next === undefined) transaction.delete(address)
  else transaction.put(address, decision.next)
  for (const { id } of decision.plan.dropped) transaction.delete(inTenant(tenant, observations, id))
}
