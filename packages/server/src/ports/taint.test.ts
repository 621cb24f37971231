import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addTaint,
  declassify,
  declassifyStored,
  isTainted,
  redactTaint,
  underTaint,
  withoutTaint,
} from './taint.ts'

const VALUE = 'Tr0ub4dor & "3" \\ü?'

const under = <T>(body: object, work: () => T): Promise<T> =>
  underTaint(JSON.parse(JSON.stringify(body)), async () => work())

const withValue = <T>(value: string, work: () => T) =>
  under({ image: 'app:1', secrets: [{ name: 'DB', values: { password: value } }] }, work)

describe('a secret value of the request is detected', () => {
  test.each<[string, (value: string) => string]>([
    ['as it is', (value) => value],
    ['in JSON', (value) => JSON.stringify({ a: value })],
    ['in JSON in JSON', (value) => JSON.stringify({ a: JSON.stringify({ b: value }) })],
    ['in a URL', (value) => `https://x/?a=${encodeURIComponent(value)}`],
    ['in hex', (value) => Buffer.from(value).toString('hex')],
    ['in base64', (value) => Buffer.from(value).toString('base64')],
    ['in base64url', (value) => Buffer.from(value).toString('base64url')],
    ['in basic authentication', (value) => Buffer.from(`user:${value}`).toString('base64')],
    ['in base64 behind and before others', (value) => Buffer.from(`ab${value}cd`).toString('base64url')],
  ])('%s', async (_form, encode) => {
    expect(await withValue(VALUE, () => isTainted(`x ${encode(VALUE)} y`))).toBe(true)
  })

  test('between any other bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array(),
        fc.uint8Array(),
        fc.string({ minLength: 8 }),
        async (before, after, core) => {
          const value = `${core}!Zq9`
          const text = Buffer.concat([before, Buffer.from(value), after]).toString('base64')
          expect(await withValue(value, () => isTainted(text))).toBe(true)
        },
      ),
    )
  })

  test('when it was generated for the request', async () => {
    const found = await under({ generate: { keys: ['password'] } }, () => {
      addTaint(VALUE)
      return isTainted(VALUE)
    })
    expect(found).toBe(true)
  })

  test('in one of several documents, sent or generated', async () => {
    const several = (entry: object) => ({ documents: [null, { secrets: [] }, { secrets: [entry] }] })
    expect(await under(several({ values: { password: VALUE } }), () => isTainted(VALUE))).toBe(true)
    const generated = await under(several({ generate: { keys: ['password'] } }), () => {
      addTaint(VALUE)
      return isTainted(VALUE)
    })
    expect(generated).toBe(true)
  })

  test('as the password of a registry', async () => {
    expect(await under({ username: 'ci', password: VALUE }, () => isTainted(VALUE))).toBe(true)
  })
})

describe('no secret value is detected', () => {
  test('outside the request', async () => {
    await withValue(VALUE, () => undefined)
    expect(isTainted(VALUE)).toBe(false)
  })

  test('in another request', async () => {
    const [first, second] = await Promise.all([
      withValue(VALUE, () => isTainted('another value!')),
      withValue('another value!', () => isTainted('another value!')),
    ])
    expect([first, second]).toEqual([false, true])
  })

  test.each(['postgres', 'short!', 'app:1'])('for %s, which may be a name', async (value) => {
    expect(await withValue(value, () => isTainted(`an image of ${value}`))).toBe(false)
  })

  test('for public texts: the path of the request, or a record that it changes', async () => {
    const body = { values: { host: 'orders.db.internal.example', password: VALUE } }
    const path = '/api/v1/secrets/resources/orders.db.internal.example'
    const byPath = underTaint(body, async () => isTainted('orders.db.internal.example'), [path])
    expect(await byPath).toBe(false)
    const byRecord = await under(body, () => {
      declassify('{"environment":{"HOST":"orders.db.internal.example"}}')
      return [isTainted('orders.db.internal.example'), isTainted(VALUE)]
    })
    expect(byRecord).toEqual([false, true])
  })

  test('for a value that was also sent in a public field', async () => {
    const body = {
      labels: { team: 'The Payments Team' },
      secrets: [{ values: { who: 'The Payments Team' } }],
    }
    expect(await under(body, () => isTainted('The Payments Team'))).toBe(false)
  })
})

test('a log line that contains a secret value is replaced', async () => {
  const [clean, held] = await withValue(VALUE, () => [
    withoutTaint('a line\n'),
    withoutTaint(`got ${VALUE}\n`),
  ])
  expect(clean).toBe('a line\n')
  expect(held).toContain('secret material removed')
  expect(held).not.toContain(VALUE)
})

test('an error that contains a secret value is replaced, and another is not', async () => {
  const failing = (message: string) =>
    withValue(VALUE, () => {
      throw new TypeError(message)
    }).catch((error: Error) => `${error.name} ${error.message}`)
  expect(await failing(`got ${VALUE}`)).toBe('SecretLeakError TypeError')
  expect(await failing('a fault')).toBe('TypeError a fault')
})

test('a value that a stored record already has is not tracked', async () => {
  const name = 'billing-worker-production'
  const tracked = await withValue(name, () => {
    const before = isTainted(name)
    declassifyStored({ consumers: [`deployment/${name}`] })
    return [before, isTainted(name)]
  })
  expect(tracked).toEqual([true, false])
})

test('a body is redacted text by text, and its other texts stay', async () => {
  const body = { path: 'deployments/db', why: [`a ${VALUE} b`, 'fine'], [VALUE]: 1, version: 2, at: null }
  const redacted = await withValue(VALUE, () => redactTaint(body))
  expect(redacted).toEqual({ path: 'deployments/db', why: ['<redacted>', 'fine'], version: 2, at: null })
})
