import { asNodeId, asTenantId, asVolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { nodes, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { lostData } from './lost-data.ts'

const TENANT = asTenantId('00000000-0000-4000-8000-000000000001')
const NODE = asNodeId('node_01JCPZ0000000000000000000A')
const VOLUME = {
  id: asVolumeId('vol_01JCPZ0000000000000000000A'),
  spec: { name: 'data' },
  phase: 'Ready',
  copies: [{ nodeId: NODE }],
}

/** A store with one node and at most one volume. */
function storeOf(volume: object | undefined): Pick<Store, 'get' | 'list'> {
  const records = new Map<unknown, readonly (object | undefined)[]>([
    [nodes, [{ id: NODE, name: 'n1' }]],
    [volumes, [volume]],
  ])
  const list = (kind: unknown) =>
    (records.get(kind) ?? []).flatMap((record) => (record === undefined ? [] : [{ record }]))
  const get = ({ collection }: { readonly collection: unknown }) => list(collection)[0]
  return { list, get } as unknown as Pick<Store, 'get' | 'list'>
}
const lossOf = (after: object | undefined) => lostData(storeOf(VOLUME), storeOf(after), TENANT)
const promoted = (lossMs: number | null) => ({
  ...VOLUME,
  promotions: [{ from: NODE, toEpoch: 2, lossMs }],
})

test.each([
  [6_200, 7, /^Writes of at most the last 7 s before the lease of n1 ended are lost\. The number of bytes/],
  [0, 0, /^No writes are lost\.$/],
  [null, null, /^It is unknown how many of the last writes on n1 are lost\. The number of bytes/],
])('a promotion that loses %s ms states its seconds', (lossMs, seconds, reason) => {
  expect(lossOf(promoted(lossMs))).toEqual([
    { volume: 'data', reason: expect.stringMatching(reason), seconds },
  ])
})

test('a deleted volume loses all of its data, which has no bound in seconds', () => {
  expect(lossOf(undefined)).toEqual([
    { volume: 'data', reason: 'The volume is deleted with all its copies.' },
  ])
})
