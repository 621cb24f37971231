// Examples of the codes that requests for volumes return. They need a platform that has volumes enabled.

import { type CodeExample, EXAMPLE, inManifest } from './example.ts'

const VOLUMES = `/api/v1/tenants/${EXAMPLE.tenant}/volumes`
const ONE = `${VOLUMES}/${EXAMPLE.volume}`
const GIB = 1024 ** 3
const volume = { name: 'reports', class: 'replicated', sizeBytes: 10 * GIB, replicas: 1 }
const WAITING = `No node fits the volume ${EXAMPLE.volume}, so its phase is Pending.`
const WRITTEN = `The deployment orders mounts the volume ${EXAMPLE.mountedVolume} read-write.`
const mounting = (volume: string, readOnly: boolean) => ({
  volumes: [{ volume, target: '/data', type: 'volume', readOnly }],
})

export const volumeExamples = {
  volume_access_mode_conflict: {
    ...inManifest(
      'volumes[0].volume',
      mounting(EXAMPLE.mountedVolume, false),
      mounting(EXAMPLE.mountedVolume, true),
      WRITTEN,
    ),
    params: { cause: 'orders mounts it read-write' },
  },
  volume_class_not_wired: {
    ...inManifest(
      'volumes[0].volume',
      mounting(EXAMPLE.objectVolume, true),
      mounting(EXAMPLE.mountedVolume, true),
      `The volume ${EXAMPLE.objectVolume} has the class object.`,
    ),
    params: { class: 'object' },
  },
  volume_primary_mismatch: {
    field: 'nodeId',
    fails: { method: 'PUT', path: '/api/v1/deployments/orders', body: { nodeId: EXAMPLE.node } },
    passes: { method: 'PUT', path: '/api/v1/deployments/orders', body: { nodeId: EXAMPLE.primaryNode } },
    given: `${WRITTEN} The primary of the volume is ${EXAMPLE.primaryNode}.`,
    params: {
      accepted: `${EXAMPLE.primaryNode}, or no nodeId so that placement follows the volume`,
      primary: EXAMPLE.primaryNode,
    },
  },
  volume_spec_invalid: {
    field: 'sizeBytes',
    fails: { method: 'POST', path: VOLUMES, body: { ...volume, sizeBytes: 1024 } },
    passes: { method: 'POST', path: VOLUMES, body: volume },
    params: {
      accepted: 'a whole number of bytes from 16777216 (16 MiB) to 17592186044416 (16 TiB)',
    },
  },
  volume_not_found: {
    field: 'id',
    fails: { method: 'GET', path: `${VOLUMES}/vol_01JD0000000000000000000000` },
    passes: { method: 'GET', path: ONE },
    params: {},
  },
  volume_not_ready: {
    field: 'id',
    fails: { method: 'POST', path: `${ONE}/resize`, body: { sizeBytes: 20 * GIB } },
    given: WAITING,
    params: { phase: 'Pending' },
  },
  volume_in_use: {
    field: 'id',
    fails: { method: 'DELETE', path: `${VOLUMES}/${EXAMPLE.mountedVolume}` },
    passes: { method: 'DELETE', path: ONE },
    given: `The deployment orders mounts the volume ${EXAMPLE.mountedVolume}.`,
    params: { consumers: 'orders' },
  },
  replica_node_invalid: {
    field: 'node_id',
    fails: { method: 'POST', path: `${ONE}/replicas`, body: { node_id: EXAMPLE.node } },
    given: WAITING,
    params: { reason: 'the volume has no primary yet' },
  },
  volume_snapshot_not_found: {
    field: 'snapshots/daily',
    fails: { method: 'GET', path: `${ONE}/snapshots/daily` },
    passes: { method: 'GET', path: `${ONE}/snapshots` },
    params: {},
  },
  volume_snapshot_not_implemented: {
    field: 'snapshots',
    fails: { method: 'POST', path: `${ONE}/snapshots`, body: { name: 'daily' } },
    passes: { method: 'PATCH', path: ONE, body: { replicas: 2 } },
    params: {},
  },
} satisfies { [code: string]: CodeExample }
