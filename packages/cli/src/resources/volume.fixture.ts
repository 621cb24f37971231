// A volume with one copy besides its primary, as the API returns it.

import { asNodeId, asVolumeId, type Volume } from '@holdfast/contract'

const NODES = ['node_01JCPZ0000000000000000000A', 'node_01JCPZ0000000000000000000B'].map(asNodeId)
const [FIRST = asNodeId(''), SECOND = asNodeId('')] = NODES

export const aVolume = (more: Partial<Volume> = {}): Volume => ({
  id: asVolumeId('vol_01JCPZ0000000000000000000A'),
  name: 'data',
  class: 'replicated',
  sizeBytes: 10 * 1024 ** 3,
  replicas: 1,
  phase: 'Ready',
  reason: null,
  primary: { nodeId: FIRST, nodeName: 'n1', epoch: 2, since: '2026-01-31T11:00:00.000Z' },
  copies: [
    {
      ...{ nodeId: FIRST, nodeName: 'n1', role: 'primary', state: 'current' },
      ...{ checkpoint: 41, checkpointAge: 0, promotable: false, promise: null },
    },
    {
      ...{ nodeId: SECOND, nodeName: 'n2', role: 'replica', state: 'current' },
      ...{ checkpoint: 40, checkpointAge: 7, promotable: true, promise: 'promised' },
    },
  ],
  fencedSince: null,
  promotions: [],
  usedBytes: 4 * 1024 ** 3,
  measuredAt: '2026-01-31T11:59:50.000Z',
  consumers: ['db'],
  createdAt: '2026-01-30T12:00:00.000Z',
  revision: 3,
  ...more,
})

export const TENANT = '00000000-0000-4000-8000-000000000000'

/** The response that names the tenant of the token, which is part of the paths of volumes. */
export const ME = {
  tenant: { id: TENANT, name: 'acme' },
  token: { id: 'tok_1', name: 'ci', role: 'developer', expiresAt: '2027-01-01T00:00:00.000Z' },
  actions: [],
  server: { version: '0.1.0' },
}
