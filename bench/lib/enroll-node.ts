// Enrolls a node through the API, with capacity for any number of replicas.

import { makeSimulatedKeys, type SimulatedNode } from '@holdfast/testkit'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'

export async function enrollNode(api: ApiClient, nodeName: string): Promise<SimulatedNode> {
  const { body: issued } = await api.post('/api/v1/nodes/join-tokens', { nodeName })
  const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
  const { body } = await api.post('/api/v1/nodes/enroll', {
    nodeName,
    joinToken: issued['token'],
    publicKey,
    encryptionKey,
    labels: {},
    engine: { version: '29.0.0', apiVersion: '1.52' },
    capacity: { cpuMillis: 100_000_000, memoryBytes: 2 ** 50 },
  })
  return { nodeId: String(body['nodeId']) as SimulatedNode['nodeId'], generation: 1, identityKey }
}
