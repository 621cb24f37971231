// Tokens that were revoked and nodes that were removed after a backup work again when etcd is restored from it. A server that
// ran has written them to a file, and the operator gets exactly them.

import type { TenantId } from '@holdfast/contract'
import { noteRevocations, openRevocationsFile } from '@holdfast/server/lifecycle/revocations-file'
import { declareRestored } from '@holdfast/server/operations/restore/declare-restored'
import { restoredText } from '@holdfast/server/operations/restore/restored-text'
import { reviewRestored } from '@holdfast/server/operations/restore/review-restored'
import { mintToken } from '@holdfast/server/operations/tenants/tokens'
import { nodes, tokens } from '@holdfast/server/store/records'
import { requireEpoch } from '@holdfast/server/store/require-epoch'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { makeTempFolder, startEtcd, uniqueName, waitUntil } from '@holdfast/testkit'
import { takeSnapshot } from '@holdfast/testkit/faults/etcd-snapshot'
import { addTenant, enroll, write } from '@holdfast/testkit/session/session-records'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

test('an operator who declares a restore gets the tokens and nodes that were revoked and removed since the backup', async () => {
  const cluster = await startEtcd()
  onTestFinished(() => cluster.stop())
  const options = { endpoints: cluster.endpoints, root: `/${uniqueName('restored')}`, deadlineMs: 5_000 }
  const folder = makeTempFolder('restored-server')
  onTestFinished(folder.remove)
  const file = openRevocationsFile(folder.path, (error) => expect.unreachable(String(error)))
  expect(file.read()).toBeUndefined()

  const running = await openTestStore(options)
  onTestFinished(() => running.close())
  const { store } = running
  await requireEpoch(store, { clock, ids })
  const end = noteRevocations(store, clock, file)
  expect(file.read()?.size).toBe(0)
  const tenant = await addTenant(store)
  const [removed, kept] = [await enroll(store, tenant), await enroll(store, tenant)]
  const [revoked, valid] = [await issue(store, tenant), await issue(store, tenant)]
  const snapshot = await takeSnapshot(cluster)
  const later = await issue(store, tenant)
  await write(store, (transaction) => {
    transaction.delete(globally(tokens, revoked))
    transaction.delete(globally(tokens, later))
    transaction.delete(inTenant(tenant, nodes, removed.nodeId))
  })
  await waitUntil(() => file.read()?.size === 3, { what: 'the server has written them' })

  await snapshot.restore({ token: uniqueName('token'), bumpRevision: 1_000_000_000 })
  const operator = await openTestStore(options)
  onTestFinished(() => operator.close())
  await operator.store.fresh()
  const review = await reviewRestored(operator.store, clock.now(), file.read())
  const { epoch, voided } = await declareRestored({ store: operator.store, clock, ids }, [])
  const text = restoredText(epoch, voided, review)
  expect(idsIn(text, 'Tokens that were revoked after the backup and are valid again')).toEqual([revoked])
  expect(idsIn(text, 'Other tokens that are valid')).toEqual([valid])
  expect(idsIn(text, 'Nodes that were removed after the backup and may connect again')).toEqual([
    removed.nodeId,
  ])
  expect(idsIn(text, 'Other nodes that may connect')).toEqual([kept.nodeId])
  end()
  // The watch of the old store tells nothing that was not revoked.
  expect(file.read()?.size).toBe(3)
})

async function issue(store: Store, tenant: TenantId): Promise<string> {
  const expiresAt = new Date(clock.now() + 3_600_000).toISOString()
  const properties = { name: 'ci', role: 'developer' as const, expiresAt }
  const { record } = mintToken(ids, new Date(clock.now()).toISOString(), tenant, properties)
  await write(store, (transaction) => transaction.put(globally(tokens, record.id), record))
  return record.id
}

/** The ids in the section of the text with this title. */
function idsIn(text: string, title: string): string[] {
  const lines = text.split('\n')
  const from = lines.findIndex((line) => line.startsWith(`${title} (`))
  const own = lines.slice(from + 1, lines.indexOf('', from))
  return own.map((line) => line.trim().split('  ')[1] ?? '')
}
