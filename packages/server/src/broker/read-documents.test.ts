import type { TenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { secret } from '../ports/secret.ts'
import type { SecretPath, SecretsReader } from '../ports/secrets-store.ts'
import { createDocumentReads, type DocumentRequest } from './read-documents.ts'

type Answer = Awaited<ReturnType<SecretsReader['readVersion']>>
const GOOD: Answer = { kind: 'ok', document: new Map([['a', secret('b')]]) }
const AWAY: Answer = { kind: 'unavailable', cause: 'sealed', applied: 'no' }

function setUp(perTenant = 16) {
  const clock = { now: 0 }
  const asked: string[] = []
  const open: ((answer: Answer) => void)[] = []
  const readVersion = (tenant: TenantId, path: SecretPath, version: number) => {
    asked.push(`${tenant} ${'label' in path ? path.label : ''} ${version}`)
    return new Promise<Answer>((resolve) => open.push(resolve))
  }
  const read = createDocumentReads({ secretsStore: { readVersion }, nowMs: () => clock.now, perTenant })
  const want = (changes: Partial<DocumentRequest> = {}, signal = new AbortController().signal) =>
    read(
      { tenant: 't' as TenantId, namespace: 'deployments', label: 'db', version: 1, revision: 1, ...changes },
      signal,
    )
  /** Answers all open requests of the fake secrets store and lets their callers continue. */
  const answer = async (given: Answer) => {
    await settle()
    for (const one of open.splice(0)) one(given)
    await settle()
  }
  return { clock, asked, want, answer }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))
const failed = (cause: string) => ({ kind: 'failed', cause })

test('requests for the same version share one read, and no document is cached', async () => {
  const { asked, want, answer } = setUp()
  const both = [want(), want()]
  await answer(GOOD)
  expect(await Promise.all(both)).toEqual([GOOD, GOOD])
  expect(asked).toEqual(['t db 1'])
  const again = want()
  await answer(GOOD)
  expect((await again).kind).toBe('ok')
  expect(asked).toHaveLength(2)
})

test('two versions of one path are read in sequence, and a failed path is read once', async () => {
  const { asked, want, answer } = setUp()
  const both = [want({ version: 1 }), want({ version: 2 })]
  await answer(AWAY)
  expect(await Promise.all(both)).toEqual([failed('store_unavailable'), failed('store_unavailable')])
  expect(asked).toEqual(['t db 1'])
})

test('a version of which the store has another document is not read', async () => {
  const { asked, want, answer } = setUp()
  const [written, other] = ['2026-11-19T03:00:00.123Z', '2026-11-19T04:00:00.456Z']
  const given = { ...GOOD, storedAt: written }
  for (const storedAt of [written, undefined]) {
    const read = want(storedAt === undefined ? {} : { storedAt })
    await answer(given)
    expect(await read).toEqual(given)
  }
  const replaced = want({ storedAt: other })
  await answer(given)
  expect(await replaced).toEqual(failed('replaced'))
  // The fault is of this version alone, and is remembered.
  expect(await want({ storedAt: other })).toEqual(failed('replaced'))
  const next = want({ version: 2 })
  await answer(GOOD)
  expect(await next).toEqual(GOOD)
  expect(asked).toEqual(['t db 1', 't db 1', 't db 1', 't db 2'])
})

test('a failed path is not read again for 30 s or until its credential changes', async () => {
  const { clock, asked, want, answer } = setUp()
  const first = want()
  await answer({ kind: 'denied' })
  expect(await first).toEqual(failed('denied'))
  clock.now = 29_999
  expect(await want()).toEqual(failed('denied'))
  expect(await want({ version: 2 })).toEqual(failed('denied'))
  const changed = want({ revision: 2 })
  await answer({ kind: 'denied' })
  expect(await changed).toEqual(failed('denied'))
  expect(asked).toHaveLength(2)
  clock.now = 60_000
  const healed = want({ revision: 2 })
  await answer(GOOD)
  expect((await healed).kind).toBe('ok')
})

test('a missing version does not block other versions', async () => {
  const { asked, want, answer } = setUp()
  const first = want()
  await answer({ kind: 'absent' })
  expect(await first).toEqual(failed('missing'))
  expect(await want()).toEqual(failed('missing'))
  const other = want({ version: 2 })
  await answer(GOOD)
  expect((await other).kind).toBe('ok')
  expect(asked).toEqual(['t db 1', 't db 2'])
})

test('concurrent reads are limited per tenant, and a request that times out in the queue marks no failure', async () => {
  const { asked, want, answer } = setUp(2)
  const reads = ['one', 'two', 'three'].map((label) => want({ label }))
  const late = new AbortController()
  const gaveUp = want({ label: 'four' }, late.signal)
  const other = want({ tenant: 'u' as TenantId })
  await settle()
  expect(asked).toEqual(['t one 1', 't two 1', 'u db 1'])
  late.abort()
  expect(await gaveUp).toEqual(failed('store_unavailable'))
  await answer(GOOD)
  await answer(GOOD)
  expect((await Promise.all([...reads, other])).map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok', 'ok'])
  const again = want({ label: 'four' })
  await answer(GOOD)
  expect((await again).kind).toBe('ok')
})

test('each request ends at its own deadline', async () => {
  const { want } = setUp()
  const late = new AbortController()
  const waiting = want({}, late.signal)
  late.abort()
  expect(await waiting).toEqual(failed('store_unavailable'))
})
