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

/** Starts a platform on which the volume `data` is Pending, and the deployment `orders` mounts the volume `mounted`. */
export async function startVolumeWorld(): Promise<VolumeWorld> {
  const platform = await startPlatform({ settings: { volumes: { enabled: true } } })
  const api = platform.api(platform.acme.token)
  const path = `/api/v1/tenants/${platform.acme.id}/volumes`
  const create = async (name: string): Promise<string> => {
    const answer = await api.post(path, { name, class: 'replicated', sizeBytes: 2 ** 30, replicas: 1 })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(Object(answer.body['volume']).id)
  }
  const [volume, mounted] = [await create('data'), await create('mounted')]
  const primary = await makeNode(platform.baseUrl, api, 'storage-1')
  await makeVolumeReady(platform, platform.acme.id, mounted, { primary })
  const mount = { volume: mounted, target: '/data', type: 'volume', readOnly: false }
  const parts = { kind: 'Deployment', name: 'orders', image: platform.image, replicas: 0 }
  const consumer = await api.post('/api/v1/deployments', { ...parts, volumes: [mount] })
  if (consumer.status !== 201) throw new Error(consumer.text)
  const names = [
    [EXAMPLE.volume, volume],
    [EXAMPLE.mountedVolume, mounted],
  ] as const
  const real = (text: string) => names.reduce((sent, [example, id]) => sent.replaceAll(example, id), text)
  return {
    platform,
    send: (request) => sendExampleAsAdmin(platform, { ...request, path: real(request.path) }),
    asExample: (text) => names.reduce((shown, [example, id]) => shown.replaceAll(id, example), text),
  }
}
