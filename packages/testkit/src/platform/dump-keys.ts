// Reads all keys under a prefix directly from etcd, and not through the product's client, which is under test; or from a
// store in memory.

import { keyspaceWith, MEMORY_ENDPOINT } from './connect-store.ts'

interface RangeAnswer {
  readonly kvs?: readonly {
    readonly key: string
    readonly value?: string
    readonly create_revision: string
    readonly mod_revision: string
  }[]
}

/** Value, first and last revision of each etcd key. Equal dumps mean that no key was created, changed, rewritten or deleted. */
export type KeyDump = {
  [key: string]: { readonly created: string; readonly revision: string; readonly value: string }
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64')
const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString()

/** The end of the range of all keys with a prefix that ends with a slash. */
const endOf = (prefix: string): string => `${prefix.slice(0, -1)}0`

export async function dumpKeys(endpoint: string, prefix: string): Promise<KeyDump> {
  if (endpoint === MEMORY_ENDPOINT) return dumpMemory(prefix)
  const answer = await fetch(`${endpoint}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({ key: toBase64(prefix), range_end: toBase64(endOf(prefix)) }),
  })
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}`)
  const { kvs = [] } = (await answer.json()) as RangeAnswer
  return Object.fromEntries(
    kvs.map(({ key, value = '', create_revision: created, mod_revision: revision }) => [
      fromBase64(key),
      { created, revision, value: fromBase64(value) },
    ]),
  )
}

function dumpMemory(prefix: string): KeyDump {
  const { kvs } = keyspaceWith(prefix).range({ key: prefix, rangeEnd: endOf(prefix) })
  return Object.fromEntries(
    kvs.map(({ key, value, createRevision, modRevision }) => [
      key,
      { created: `${createRevision}`, revision: `${modRevision}`, value: Buffer.from(value).toString() },
    ]),
  )
}

const OF_SERVERS = /\/g\/(?:replica|shard|chain)\//

/** Leaves out the keys of the server replicas themselves, which change at any time. */
export const withoutServers = (dump: KeyDump): KeyDump =>
  Object.fromEntries(Object.entries(dump).filter(([key]) => !OF_SERVERS.test(key)))

/** Dumps the keys of all tenants, to check that a rejected request stores nothing. */
export function dumpTenants(platform: {
  readonly root: string
  readonly config: { readonly etcd: { readonly endpoints: readonly string[] } }
}): Promise<KeyDump> {
  return dumpKeys(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/t/`)
}
