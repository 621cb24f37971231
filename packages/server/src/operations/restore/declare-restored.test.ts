import type { NodeId, TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { clock, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { epochAddress } from '../../store/epoch.ts'
import { someTenant } from '../../store/records.fixture.ts'
import { execTickets, idempotentAnswers, intents, tokens } from '../../store/records.ts'
import { requireEpoch } from '../../store/require-epoch.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { realIds as ids } from '../../system-clock.ts'
import { createIdempotentAnswers } from '../idempotency.ts'
import { confirmRestored, declareRestored } from './declare-restored.ts'
import { restoredText } from './restored-text.ts'
import { reviewRestored } from './review-restored.ts'

const NOW = new Date(clock.now()).toISOString()
const LATER = new Date(clock.now() + 60_000).toISOString()
const tenant = someTenant()

async function restoredPlatform() {
  const keyspace = createMemoryKeyspace()
  const open = async (): Promise<Store> => {
    const store = await openOver(keyspace)
    onTestFinished(() => store.close())
    return store
  }
  const store = await open()
  const first = await requireEpoch(store, { clock, ids })
  const caller = { tenant, token: 'tok_1', role: 'developer', onBehalf: false, requestId: 'r' }
  for (const half of [0, 75])
    await write(store, (transaction) => {
      for (let version = half + 1; version <= half + 75; version += 1)
        transaction.put(globally(intents, `i${version}`), {
          v: 1,
          tenant,
          namespace: 'deployments',
          resource: 'db',
          version,
          createdAt: NOW,
        })
    })
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    createIdempotentAnswers(store, clock, 24).keep(
      transaction,
      caller as never,
      { id: 'a1', requestHash: '' },
      { status: 201, body: {} },
    )
    for (const [id, expiresAt] of [
      ['tok_live', LATER],
      ['tok_past', NOW],
    ])
      transaction.put(globally(tokens, id ?? ''), {
        v: 1,
        id: (id ?? '') as TokenId,
        name: 'ci',
        role: 'developer',
        createdAt: NOW,
        expiresAt: expiresAt ?? '',
        tenant,
        secretHash: 'hidden-hash',
      })
  })
  return { store, open, first }
}

test('deletes what must not be used twice, and replaces the epoch last', async () => {
  const { store, open, first } = await restoredPlatform()
  await store.fresh()
  const { epoch, voided } = await declareRestored({ store, clock, ids }, ['lost'])
  expect(voided).toMatchObject({ intents: 150, idempotentAnswers: 1, joinTokens: 0, execTickets: 0 })
  expect(epoch).toMatchObject({ previous: [first.epoch, 'lost'], unconfirmed: true })
  expect(epoch.epoch).not.toBe(first.epoch)
  const after = await open()
  expect(after.get(epochAddress)?.record).toEqual(epoch)
  expect(after.listWithIds(intents)).toEqual([])
  expect(after.listWithIds(execTickets)).toEqual([])
  expect(after.keysOf(idempotentAnswers, tenant)).toEqual([])
  // The process that declared it is one of those that knew the replaced epoch.
  await expect(store.fresh()).rejects.toThrow('declared it restored')
})

test('a confirmation is for one tenant or for all, and needs a declared restore', async () => {
  const { store, open } = await restoredPlatform()
  expect(await confirmRestored({ store }, undefined)).toBe('nothing to confirm')
  await declareRestored({ store, clock, ids }, [])
  const operator = await open()
  expect(await confirmRestored({ store: operator }, someTenant())).toBe('unknown tenant')
  expect(await confirmRestored({ store: operator }, tenant)).toBe('confirmed')
  await operator.fresh()
  expect(operator.get(epochAddress)?.record).toMatchObject({ unconfirmed: true, confirmedTenants: [tenant] })
  expect(await confirmRestored({ store: operator }, undefined)).toBe('confirmed')
  await operator.fresh()
  expect(operator.get(epochAddress)?.record).not.toHaveProperty('unconfirmed')
  expect(operator.fault).toBeUndefined()
})

test('lists the tokens and nodes that work again, without anything secret', async () => {
  const { store } = await restoredPlatform()
  await store.fresh()
  const review = await reviewRestored(store, clock.now(), undefined)
  expect(review.tokens.map(({ id }) => id)).toEqual(['tok_live'])
  expect(review.nodes).toEqual([
    { tenant: 't', id: 'node_1' as NodeId, name: 'n1', status: 'ready', statusSince: NOW },
  ])
  const { epoch, voided } = await declareRestored({ store, clock, ids }, [])
  const text = restoredText(epoch, voided, review)
  expect(text).toContain('t  tok_live  developer  ci')
  expect(text).toContain('150 open secret writes')
  expect(text).not.toContain('hidden-hash')
  expect(text).toContain('No server of this machine remembers')
})

test('lists apart what a server has seen revoked or removed since the backup', async () => {
  const { store } = await restoredPlatform()
  await store.fresh()
  // An id that the backup lacks belongs to a token that was issued and revoked after it.
  const revoked = new Map(['tok_live', 'tok_past', 'tok_later', 'node_1'].map((id) => [id, LATER]))
  const review = await reviewRestored(store, clock.now(), revoked)
  const { epoch, voided } = await declareRestored({ store, clock, ids }, [])
  const text = restoredText(epoch, voided, review)
  const sections = text.split('\n\n').filter((part) => /^(Tokens|Nodes|Other)/.test(part))
  expect(sections.map((part) => part.split('\n')[0])).toEqual([
    'Tokens that were revoked after the backup and are valid again (1):',
    'Other tokens that are valid (0):',
    'Nodes that were removed after the backup and may connect again (1):',
    'Other nodes that may connect (0):',
  ])
  expect(sections[0]).toContain(`tok_live  developer  ci`)
  expect(sections[0]).toContain(`revoked ${LATER}`)
  expect(sections[2]).toContain(`removed ${LATER}`)
  expect(text).not.toMatch(/tok_past|tok_later|No server of this machine/)
})
