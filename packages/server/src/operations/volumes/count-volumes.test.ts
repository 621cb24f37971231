// The counts of volumes for the metrics, over records of two tenants.

import { asNodeId, asTenantId, asVolumeId, type NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { copyReports, nodes, pools, tenants, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { countVolumes } from './count-volumes.ts'

const [ONE, TWO] = [asNodeId('node_1'), asNodeId('node_2')]
const TENANT = asTenantId('00000000-0000-4000-8000-000000000001')

const volume = (parts: object) => ({
  id: asVolumeId('vol_1'),
  spec: { name: 'data', class: 'replicated', sizeBytes: 1, replicas: 1 },
  phase: 'Ready',
  copies: [
    { nodeId: ONE, role: 'primary', state: 'current' },
    { nodeId: TWO, role: 'replica', state: 'current' },
  ],
  ...parts,
})

const fence = (nodeId: NodeId, epoch: number) => ({
  ...{ volume: asVolumeId('vol_1'), nodeId, epoch, fencedSince: '2026-01-01T00:00:00.000Z' },
})

/** A store with the given records of one tenant. */
function storeOf(records: ReadonlyMap<unknown, readonly object[]>): Pick<Store, 'list'> {
  const list = (kind: unknown) => (records.get(kind) ?? []).map((record) => ({ record }))
  return { list } as unknown as Pick<Store, 'list'>
}

test('counts missing copies, unprotected and fenced volumes, promotions and divergences', () => {
  const promotion = { cause: 'primary_silent' }
  const missing = [
    { nodeId: ONE, role: 'primary', state: 'current' },
    { nodeId: TWO, role: 'replica', state: 'missing' },
  ]
  const counts = countVolumes(
    storeOf(
      new Map<unknown, object[]>([
        [tenants, [{ id: TENANT }]],
        [
          volumes,
          [
            volume({
              promotable: [TWO],
              promotions: [promotion, promotion],
              primary: { nodeId: ONE, epoch: 2 },
            }),
            volume({ id: asVolumeId('vol_2'), promotable: [TWO], primary: { nodeId: ONE, epoch: 2 } }),
            volume({ promotable: [] }),
            volume({ copies: missing }),
            volume({ phase: 'Deleting', copies: [] }),
            volume({ spec: { name: 'tmp', class: 'ephemeral', sizeBytes: 1, replicas: 0 }, copies: [] }),
          ],
        ],
        [
          copyReports,
          [fence(ONE, 2), fence(ONE, 1), fence(TWO, 2), { ...fence(ONE, 2), fencedSince: undefined }],
        ],
        [pools, [{ quarantined: [{}, {}] }, {}]],
        [nodes, [{ storage: { poolBytes: 10, usedBytes: 4 } }, {}]],
      ]),
    ),
  )
  expect(counts).toMatchObject({
    missingCopies: 2,
    unprotected: 2,
    fenced: 1,
    divergences: 2,
    poolBytes: { total: 10, used: 4 },
  })
  expect([...counts.promotionsByCause]).toEqual([
    ['primary_silent', 2],
    ['forced', 0],
  ])
})
