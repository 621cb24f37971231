// Tests which addresses of other server replicas are remembered, and for how long.

import { expect, test } from 'vitest'
import type { Change } from '../../store/cache/record-index.ts'
import { serverReplicas } from '../../store/records.ts'
import { createReplicaAddresses } from './replica-addresses.ts'

const HOUR_MS = 3_600_000

function addressesWith(first: { readonly [id: string]: string }) {
  const urls = new Map(Object.entries(first))
  const store = {
    get: ({ id }: { id: string }) => (urls.has(id) ? { record: { url: urls.get(id) } } : undefined),
    listWithIds: () => [...urls.keys()].map((id) => ({ id })),
  }
  const deps = { store, replica: 'me' } as unknown as Parameters<typeof createReplicaAddresses>[0]
  const addresses = createReplicaAddresses(deps, 0)
  const change = (kind: 'put' | 'delete', id: string, at: number) => {
    const key = { tenant: undefined, folder: serverReplicas.folder, id }
    addresses.apply([{ kind, key } as unknown as Change], at)
  }
  return {
    addresses,
    heartbeat(id: string, url: string, at: number) {
      urls.set(id, url)
      change('put', id, at)
    },
    remove(id: string, at: number) {
      urls.delete(id)
      change('delete', id, at)
    },
  }
}

test('knows the other replicas and not itself, each address once', () => {
  const { addresses, heartbeat } = addressesWith({ me: 'http://me', b: 'http://b' })
  heartbeat('c', 'http://c', 1)
  heartbeat('b-restarted', 'http://b', 2)
  expect(addresses.known(3).sort()).toEqual(['http://b', 'http://c'])
})

test('remembers a replica without a heartbeat for an hour', () => {
  const { addresses, remove } = addressesWith({ b: 'http://b' })
  remove('b', 1_000)
  expect(addresses.known(HOUR_MS - 1)).toEqual(['http://b'])
  expect(addresses.known(HOUR_MS)).toEqual([])
})

test('remembers the 64 newest addresses', () => {
  const { addresses, heartbeat } = addressesWith({})
  for (let index = 0; index < 100; index += 1) heartbeat(`s${index}`, `http://s${index}`, index)
  const known = addresses.known(100)
  expect(known).toHaveLength(64)
  expect(known[0]).toBe('http://s36')
})
