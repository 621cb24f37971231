// Writes the keys and bytes of a create directly to etcd: captured from one real create, then repeated under other names
// of the same length, so that etcd has the same work with the server and without it.

import type { Compare, KeyValue, KeyValueEngine, Operation } from '@holdfast/server/ports/key-value'
import {
  createGroupCommit,
  type PreparedTransaction,
  type Write,
} from '@holdfast/server/store/commit/group-commit'
import { prefixRange } from '@holdfast/server/store/keys'

export interface CreateTemplate {
  readonly puts: readonly KeyValue[]
  readonly compares: readonly Compare[]
}

/** Root of the directly written keys; as long as the root of the server's keys. */
export const BARE_ROOT = '/hb'

export type BareCreate = (index: number) => Promise<boolean>

/** Captures the keys of the tenant's newest store revision, which must be a single create. */
export async function captureCreate(
  engine: KeyValueEngine,
  tenant: string,
  name: string,
): Promise<CreateTemplate> {
  const everything = await engine.range(prefixRange(`/hf/t/${tenant}/`))
  const record = everything.kvs.find(({ key }) => key.endsWith(`/dep/${name}/`))
  if (record === undefined) throw new Error(`no deployment ${name}`)
  const puts = everything.kvs.filter(({ modRevision }) => modRevision === record.modRevision)
  const global = await engine.range(prefixRange('/hf/g/'))
  const read = global.kvs
    .filter(({ key, value }) => key.includes(tenant) || Buffer.from(value).includes(tenant))
    .slice(0, 2)
  const compares = [
    ...read.map(unchanged),
    ...puts.filter(({ key }) => /\/(dep|slot)\//.test(key)).map(({ key }) => absent(key)),
    absent('/hf/g/cancel/00000000000000000000000000/'),
  ]
  return { puts, compares }
}

const unchanged = ({ key, modRevision }: KeyValue): Compare => ({
  key,
  target: 'modRevision',
  is: 'equal',
  value: modRevision,
})
const absent = (key: string): Compare => ({ key, target: 'version', is: 'equal', value: 0 })

/**
 * The n-th create as an etcd transaction: every key ends in the number n, padded to a fixed length. The keys are outside
 * of the server's root, so no process watches them.
 */
export function transactionOf(
  template: CreateTemplate,
  tenant: string,
  from: string,
  index: number,
): PreparedTransaction {
  const rename = (key: string): string => {
    const moved = key.replace(from, tenant)
    const last = moved.split('/').at(-2) ?? ''
    const written = template.puts.some((put) => put.key === key)
    if (!written && !key.includes('/cancel/')) return key
    return moved.replace(`/${last}/`, `/${numbered(last, index)}/`).replace('/hf/', `${BARE_ROOT}/`)
  }
  const writes = template.puts.map(({ key, value }): Write => ({ kind: 'put', key: rename(key), value }))
  return { writes, compares: template.compares.map((compare) => ({ ...compare, key: rename(compare.key) })) }
}

function numbered(text: string, index: number): string {
  const digits = String(index).padStart(9, '0')
  return text.length > 9 ? text.slice(0, -9) + digits : digits
}

export function bareCreates(
  engine: KeyValueEngine,
  make: (index: number) => PreparedTransaction,
): BareCreate {
  return async (index) => {
    const { compares, writes } = make(index)
    const success: readonly Operation[] = writes
    return (await engine.transact({ compares, success, failure: [] })).succeeded
  }
}

export function groupedCreates(
  engine: KeyValueEngine,
  make: (index: number) => PreparedTransaction,
): BareCreate {
  const group = createGroupCommit(engine)
  return async (index) => (await group.submit(make(index))).kind === 'committed'
}
