// A platform with volumes enabled, and the volumes that the examples of the error codes refer to.

import type { Code } from '@holdfast/contract'
import { EXAMPLE, type ExampleRequest } from '@holdfast/contract/examples'
import { makeNode } from '../nodes/enroll.ts'
import { makeVolumeReady } from '../nodes/ready-volume.ts'
import type { ApiAnswer } from '../platform/api-client.ts'
import { type Platform, startPlatform } from '../platform/start-platform.ts'
import { sendExampleAsAdmin } from './run-examples.ts'

/** The codes that requests for volumes return. */
export const VOLUME_CODES = [
  'volume_access_mode_conflict',
  'volume_class_not_wired',
  'volume_primary_mismatch',
  'volume_spec_invalid',
  'volume_not_found',
  'volume_not_ready',
  'volume_in_use',
  'replica_node_invalid',
  'volume_snapshot_not_found',
  'volume_snapshot_not_implemented',
] as const satisfies readonly Code[]

export interface VolumeWorld {
  readonly platform: Platform
  /** Sends an example; names of the examples stand for the real volumes. */
  send(request: ExampleRequest): Promise<ApiAnswer>
  /** A text of a response with the names of the examples instead of the real ones. */
  asExample(text: string): string
}

/**
 * Starts a platform on which the volume `data` is Pending, the deployment `orders` writes the volume `mounted`, and the
 * volume `objects` has the class object.
 */
export async function startVolumeWorld(): Promise<VolumeWorld> {
  const platform = await startPlatform({ settings: { volumes: { enabled: true } } })
  const api = platform.api(platform.acme.token)
  const path = `/api/v1/tenants/${platform.acme.id}/volumes`
  const create = async (name: string, kind: { class: string; replicas?: number }): Promise<string> => {
    const answer = await api.post(path, { name, sizeBytes: 2 ** 30, ...kind })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(Object(answer.body['volume']).id)
  }
  const replicated = { class: 'replicated', replicas: 1 }
  const [volume, mounted] = [await create('data', replicated), await create('mounted', replicated)]
  const objects = await create('objects', { class: 'object' })
  const primary = await makeNode(platform.baseUrl, api, 'storage-1')
  const other = await makeNode(platform.baseUrl, api, 'storage-2')
  await makeVolumeReady(platform, platform.acme.id, mounted, { primary })
  const mount = { volume: mounted, target: '/data', type: 'volume', readOnly: false }
  const parts = { kind: 'Deployment', name: 'orders', image: platform.image, replicas: 0 }
  const consumer = await api.post('/api/v1/deployments', { ...parts, volumes: [mount] })
  if (consumer.status !== 201) throw new Error(consumer.text)
  const names = [
    [EXAMPLE.volume, volume],
    [EXAMPLE.mountedVolume, mounted],
    [EXAMPLE.objectVolume, objects],
    [EXAMPLE.primaryNode, primary],
    [EXAMPLE.node, other],
  ] as const
  const real = (text: string) => names.reduce((sent, [example, id]) => sent.replaceAll(example, id), text)
  const withRealNames = (request: ExampleRequest): ExampleRequest => JSON.parse(real(JSON.stringify(request)))
  return {
    platform,
    send: (request) => sendExampleAsAdmin(platform, withRealNames(request)),
    asExample: (text) => names.reduce((shown, [example, id]) => shown.replaceAll(id, example), text),
  }
}
