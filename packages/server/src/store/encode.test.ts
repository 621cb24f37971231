import { canonicalJson, unknownLength } from '@holdfast/contract'
import { addMembers } from '@holdfast/testkit/newer-members/add-members'
import { randomOf } from '@holdfast/testkit/newer-members/random-record'
import { expect, test } from 'vitest'
import { underTaint } from '../ports/taint.ts'
import { decodeRecord, encodeRecord, UnstorableRecordError } from './encode.ts'
import { FORMS, newestForm } from './records/collection.ts'
import { aDeployment, aSpec } from './records.fixture.ts'
import { COLLECTIONS, deployments, idempotentAnswers } from './records.ts'

const RANDOM_RECORDS = 5_000

const anAnswer = (body: object) => ({
  v: 1,
  requestHash: '',
  status: 201,
  body,
  etag: null,
  expiresAt: '2026-01-01T00:00:00.000Z',
})

test('decodes a record to the same value that was encoded', () => {
  const record = aDeployment('web', { digest: 'sha256:ä€𝄞' })
  expect(decodeRecord(deployments, encodeRecord(deployments, record))).toEqual(record)
})

test('refuses to encode a key outside the shape, at any depth, without quoting its value', () => {
  const extra = { ...aDeployment('web'), password: 'hunter2-hunter2' }
  const deep = aDeployment('web')
  const nested = {
    ...deep,
    spec: { ...deep.spec, update: { ...deep.spec.update, password: 'hunter2-hunter2' } },
  }
  for (const record of [extra, nested]) {
    const encode = () => encodeRecord(deployments, record)
    expect(encode).toThrow(UnstorableRecordError)
    expect(encode).toThrow(/unknown at .*password/)
    expect(encode).not.toThrow(/hunter2/)
  }
})

test('keeps members of a newer version when a record is decoded, changed and encoded', () => {
  const { spec, ...record } = aDeployment('web')
  const stored = { ...record, spec: { ...spec, update: { ...spec.update, canary: 5 } }, rank: { of: 1 } }
  const decoded = decodeRecord(deployments, Buffer.from(JSON.stringify(stored)))
  expect(decoded).not.toHaveProperty('rank')
  const encoded = encodeRecord(deployments, { ...decoded, revision: 2 })
  expect(JSON.parse(encoded.toString())).toEqual({ ...stored, revision: 2 })
})

test('a response stored for an Idempotency-Key contains no members of a newer version', () => {
  const { spec, ...record } = aDeployment('web')
  const stored = { ...record, spec: { ...spec, update: { ...spec.update, canary: 5 } }, rank: 1 }
  const decoded = decodeRecord(deployments, Buffer.from(JSON.stringify(stored)))
  const body = { deployment: { ...decoded }, alterations: [{ from: decoded.spec.update }] }
  const text = encodeRecord(idempotentAnswers, anAnswer(body)).toString()
  expect(JSON.parse(text).body).toEqual(JSON.parse(JSON.stringify(body)))
})

/** A copy of every object, as code makes that changes a record. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, copied(member)])
  return { ...value, ...Object.fromEntries(members) }
}

test('keeps random members of a newer version at any depth, in records of every kind', () => {
  const below = (limit: number) => Math.floor(Math.random() * limit)
  const lost: string[] = []
  for (let count = 0; count < RANDOM_RECORDS; count += 1) {
    const collection = COLLECTIONS[count % COLLECTIONS.length] ?? deployments
    const record = { ...Object(randomOf(collection.shape, below)), v: 1 }
    addMembers(collection.shape, record, below)
    const text = JSON.stringify(record)
    const decoded = decodeRecord<unknown>(collection, Buffer.from(text))
    const encoded = encodeRecord(collection, copied(decoded)).toString()
    const isKept = canonicalJson(JSON.parse(encoded)) === canonicalJson(record)
    if (!isKept || unknownLength(Object(decoded)) === 0) lost.push(`${collection.folder} ${text} ${encoded}`)
  }
  expect(lost).toEqual([])
})

test('refuses to decode a record of a newer form, which may look like a known one', () => {
  const newer = newestForm(FORMS) + 1
  const bytes = Buffer.from(JSON.stringify({ ...aDeployment('web'), v: newer }))
  expect(() => decodeRecord(deployments, bytes)).toThrow(`form ${newer}`)
  expect(decodeRecord(deployments, bytes, newer)).toMatchObject({ v: newer })
})

test('refuses to encode a record with a missing or mistyped member', () => {
  const { uid: _uid, ...without } = aDeployment('web')
  expect(() => encodeRecord(deployments, without as never)).toThrow(UnstorableRecordError)
  expect(() => encodeRecord(deployments, aDeployment('web', { revision: '1' as never }))).toThrow(/revision/)
})

test.each([
  [{ values: { user: 'hunter2-hunter2' } }, 'values'],
  [{ generate: { length: 32 } }, 'generate'],
])(
  'refuses to encode secret material under secrets even if the shape accepts any JSON: %o',
  (entry, member) => {
    const record = anAnswer({ spec: { secrets: [{ name: 'db', ...entry }] } })
    const encode = () => encodeRecord(idempotentAnswers, record)
    expect(encode).toThrow(UnstorableRecordError)
    const material = expect.objectContaining({ field: `body.spec.secrets[0].${member}` })
    expect(encode).toThrow(expect.objectContaining({ material }))
    expect(encode).not.toThrow(/hunter2/)
  },
)

test.each(['', '{', 'null', '[]', '{"v":1}', '\u0000'])('refuses to decode %j as a record', (text) => {
  for (const collection of COLLECTIONS) expect(() => decodeRecord(collection, Buffer.from(text))).toThrow()
})

test('refuses to decode bytes that are not UTF-8', () => {
  const bytes = encodeRecord(deployments, aDeployment('web', { specHash: 'abc' }))
  const at = bytes.indexOf('abc')
  bytes[at] = 0xff
  expect(() => decodeRecord(deployments, bytes)).toThrow()
})

test('refuses to encode a secret value of the request under any name', async () => {
  const value = 'Tr0ub4dor&3'
  const labelled = aDeployment('web', { spec: { ...aSpec('web'), labels: { note: `is ${value}` } } })
  const encode = async () => encodeRecord(deployments, labelled)
  await expect(underTaint({ values: { password: value } }, encode)).rejects.toMatchObject({
    name: 'UnstorableRecordError',
    material: { code: 'secret_material_would_persist', field: 'values' },
  })
  await expect(underTaint({ values: { password: 'another-Value' } }, encode)).resolves.toBeDefined()
})
