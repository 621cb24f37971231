// Calls between server replicas name the epoch of the caller's store, and one of another epoch is refused.

import { expect, test } from 'vitest'
import { serveBroker } from '../../broker/serve-broker.ts'
import type { Broker } from '../../ports/broker.ts'
import { secret } from '../../ports/secret.ts'
import { realClock as clock } from '../../system-clock.ts'
import { noteRefusal, refuseEpoch, withEpoch } from './calling-epoch.ts'
import { proveRequest } from './cluster-proof.ts'

/** A store of an epoch; undefined: of an older version, which has none. */
function storeOf(epoch: string | undefined, fault?: string) {
  const reads: string[] = []
  const store = {
    fault,
    get: () => epoch && { record: { epoch } },
    fresh: async () => void reads.push('read'),
  } as unknown as Parameters<typeof refuseEpoch>[0]
  return { store, reads }
}

test('a call is refused if both sides have an epoch and the epochs differ, and the store is then read', () => {
  const { store, reads } = storeOf('e2')
  const bodyOf = (epoch: string | undefined) =>
    JSON.stringify(withEpoch(storeOf(epoch).store, { tenant: 't' }))
  expect(
    [bodyOf('e2'), bodyOf(undefined), 'no JSON', 'null'].map((body) => refuseEpoch(store, body)),
  ).toEqual(new Array(4).fill(undefined))
  expect(refuseEpoch(storeOf(undefined).store, bodyOf('e1'))).toBeUndefined()
  expect(reads).toEqual([])
  expect(refuseEpoch(store, bodyOf('e1'))).toBe(409)
  expect(reads).toEqual(['read'])
})

test('a server that must not use its store serves no other one', () => {
  expect(refuseEpoch(storeOf('e2', 'etcd went back').store, '{"epoch":"e2"}')).toBe(503)
})

test('a caller that is refused for its epoch reads its own store', () => {
  const { store, reads } = storeOf('e1')
  for (const status of [200, 401, 503]) noteRefusal(store, status)
  expect(reads).toEqual([])
  noteRefusal(store, 409)
  expect(reads).toEqual(['read'])
})

test('a broker seals nothing for a server of another epoch', async () => {
  const asked: unknown[] = []
  const sealEnvironment = async (ask: unknown) => {
    asked.push(ask)
    return { sealed: 's' }
  }
  const broker = { sealEnvironment } as unknown as Broker
  const serve = serveBroker(broker, { store: storeOf('e2').store, clusterKey: secret('k'), clock })
  const [path, assignment] = ['/internal/broker/environment', { assignmentId: 'a', attempt: '1' }]
  const statusOf = async (epoch: string) => {
    const owner = { tenant: 't', nodeId: 'node_1', owner: 'deployment/d' }
    const body = JSON.stringify({ ...owner, ...assignment, epoch })
    const authorization = proveRequest(secret('k'), clock, { method: 'POST', path, body })
    return (await serve({ headers: { authorization }, path, body })).status
  }
  expect(await statusOf('e1')).toBe(409)
  expect(asked).toEqual([])
  expect(await statusOf('e2')).toBe(200)
  expect(asked).toHaveLength(1)
})
