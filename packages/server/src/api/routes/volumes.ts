// The endpoints of volumes, below /api/v1/tenants/{tenant}/volumes and /api/v1/dvm. They exist only on platforms whose
// configuration enables volumes.

import {
  newVolumeShape,
  snapshotShape,
  type Volume,
  volumePatchShape,
  volumePromotionShape,
  volumeReplicaShape,
  volumeResizeShape,
  volumeShape,
  type WrittenVolume,
  whyShape,
  writtenVolumeShape,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type Outcome, refused } from '../../operations/caller.ts'
import type { Kept, KeptAnswer } from '../../operations/idempotency.ts'
import { createVolume } from '../../operations/volumes/create-volume.ts'
import { deleteVolume } from '../../operations/volumes/delete-volume.ts'
import type { VolumeDeps } from '../../operations/volumes/deps.ts'
import { promoteVolume } from '../../operations/volumes/promotion/promote-volume.ts'
import {
  explainVolumeNow,
  getSnapshot,
  getVolume,
  listSnapshots,
  listVolumes,
} from '../../operations/volumes/read-volumes.ts'
import { resizeVolume } from '../../operations/volumes/resize-volume.ts'
import { addReplica, removeReplica, scaleVolume } from '../../operations/volumes/scale-volume.ts'
import { type ApiRequest, type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'

const VOLUMES = '/api/v1/tenants/{tenant}/volumes'
const ONE = `${VOLUMES}/{id}`
const SNAPSHOTS = `${ONE}/snapshots`
const BODY_CODES = ['field_unknown', 'field_type_invalid', 'volume_spec_invalid'] as const

const etagOf = ({ revision }: Volume): string => String(revision)

export function volumeEndpoints(deps: VolumeDeps): Endpoint[] {
  return [
    ...readEndpoints(deps),
    createEndpoint(deps),
    ...changeEndpoints(deps),
    ...actionEndpoints(deps),
    ...snapshotEndpoints(deps),
  ]
}

function readEndpoints(deps: VolumeDeps): Endpoint[] {
  const list = (path: string, operation: string, summary: string): Endpoint =>
    listEndpoint(path, {
      operation,
      action: 'volumes:read',
      summary,
      item: volumeShape,
      ...(path === VOLUMES ? { codes: ['tenant_not_found'] } : {}),
      run: ({ caller, query }) => listVolumes(deps, caller.tenant, query),
    })
  return [
    list('/api/v1/dvm/volumes', 'listOwnVolumes', "List the volumes of the token's tenant"),
    list(VOLUMES, 'listVolumes', 'List the volumes of a tenant'),
    endpoint('GET', ONE, {
      operation: 'getVolume',
      action: 'volumes:read',
      summary: 'Read a volume',
      shape: volumeShape,
      codes: ['tenant_not_found', 'volume_not_found'],
      run: (request) => getVolume(deps, request.caller.tenant, param(request, 'id')),
      etag: etagOf,
    }),
    endpoint('GET', `${ONE}/why`, {
      operation: 'explainVolume',
      action: 'volumes:read',
      summary:
        'Explain where the primary or a missing copy of a volume could be, and why other nodes refuse it',
      query: ['limit', 'cursor'],
      shape: whyShape,
      codes: ['tenant_not_found', 'volume_not_found'],
      run: (request) => explainVolumeNow(deps, request.caller.tenant, param(request, 'id'), request.query),
    }),
  ]
}

const created = (written: WrittenVolume): KeptAnswer => ({
  status: 201,
  body: written,
  etag: etagOf(written.volume),
})

function createEndpoint(deps: VolumeDeps): Endpoint {
  return endpoint('POST', VOLUMES, {
    operation: 'createVolume',
    action: 'volumes:write',
    summary: 'Create a volume; its primary is placed as soon as a node fits',
    headers: ['Idempotency-Key'],
    body: newVolumeShape,
    status: 201,
    shape: writtenVolumeShape,
    codes: [
      'tenant_not_found',
      'name_required',
      ...BODY_CODES,
      'list_too_long',
      'residency_region_undeclared',
      'quota_exceeded',
      'idempotency_key_reused',
    ],
    handle: (request) =>
      respondOnce(
        deps.answers,
        request,
        VOLUMES.replace('{tenant}', request.caller.tenant),
        (once) => createVolume(deps, request.caller, request.body, kept(once, created)),
        created,
      ),
  })
}

function changeEndpoints(deps: VolumeDeps): Endpoint[] {
  return [
    endpoint('PATCH', ONE, {
      operation: 'updateVolume',
      action: 'volumes:write',
      summary: 'Set the number of copies of a volume',
      headers: ['If-Match'],
      body: volumePatchShape,
      shape: volumeShape,
      codes: [
        'tenant_not_found',
        'volume_not_found',
        ...BODY_CODES,
        'volume_not_ready',
        'quota_exceeded',
        'revision_conflict',
      ],
      run: (request) =>
        scaleVolume(deps, request.caller, param(request, 'id'), request.body, request.ifMatch),
      etag: etagOf,
    }),
    endpoint('DELETE', ONE, {
      operation: 'deleteVolume',
      action: 'volumes:write',
      summary:
        'Delete a volume and its data, unless a deployment mounts it; its name is free once every node has deleted its copy',
      headers: ['If-Match'],
      status: 202,
      shape: volumeShape,
      codes: ['tenant_not_found', 'volume_not_found', 'volume_in_use', 'revision_conflict'],
      run: (request) => deleteVolume(deps, request.caller, param(request, 'id'), request.ifMatch),
    }),
    endpoint('DELETE', `${ONE}/replicas/{nodeId}`, {
      operation: 'removeVolumeReplica',
      action: 'volumes:write',
      summary: 'Remove the copy of a volume on a node; the number of copies falls by one',
      headers: ['If-Match'],
      status: 202,
      shape: volumeShape,
      codes: [
        'tenant_not_found',
        'volume_not_found',
        'volume_not_ready',
        'node_not_found',
        'revision_conflict',
      ],
      run: (request) =>
        removeReplica(deps, request.caller, param(request, 'id'), param(request, 'nodeId'), request.ifMatch),
      etag: etagOf,
    }),
  ]
}

export const acceptedVolume = (volume: Volume): KeptAnswer => ({
  status: 202,
  body: volume,
  etag: etagOf(volume),
})

type Act = (request: ApiRequest, id: string, kept: Kept<Volume>) => Promise<Outcome<Volume>>

function actionEndpoints(deps: VolumeDeps): Endpoint[] {
  const act = (path: string, run: Act): Endpoint['handle'] => {
    return (request) => {
      const id = param(request, 'id')
      const named = path.replace('{tenant}', request.caller.tenant).replace('{id}', id)
      return respondOnce(
        deps.answers,
        request,
        named,
        (once) => run(request, id, kept(once, acceptedVolume)),
        acceptedVolume,
      )
    }
  }
  return [
    endpoint('POST', `${ONE}/resize`, {
      operation: 'resizeVolume',
      action: 'volumes:write',
      summary: 'Change the size of a volume',
      headers: ['Idempotency-Key'],
      body: volumeResizeShape,
      status: 202,
      shape: volumeShape,
      codes: [
        'tenant_not_found',
        'volume_not_found',
        ...BODY_CODES,
        'volume_not_ready',
        'quota_exceeded',
        'idempotency_key_reused',
      ],
      handle: act(`${ONE}/resize`, ({ caller, body }, id, once) =>
        resizeVolume(deps, caller, id, body, once),
      ),
    }),
    endpoint('POST', `${ONE}/replicas`, {
      operation: 'addVolumeReplica',
      action: 'volumes:write',
      summary: 'Add a copy of a volume on a node; the number of copies rises by one',
      headers: ['Idempotency-Key'],
      body: volumeReplicaShape,
      status: 202,
      shape: volumeShape,
      codes: [
        'tenant_not_found',
        'volume_not_found',
        'field_unknown',
        'field_type_invalid',
        'volume_not_ready',
        'replica_node_invalid',
        'quota_exceeded',
        'idempotency_key_reused',
      ],
      handle: act(`${ONE}/replicas`, ({ caller, body }, id, once) =>
        addReplica(deps, caller, id, body, once),
      ),
    }),
    promoteEndpoint(
      act(`${ONE}/promote`, ({ caller, body }, id, once) => promoteVolume(deps, caller, id, body, once)),
    ),
  ]
}

const promoteEndpoint = (handle: Endpoint['handle']): Endpoint =>
  endpoint('POST', `${ONE}/promote`, {
    operation: 'promoteVolume',
    action: 'volumes:write',
    summary: 'Replace the silent primary of a volume by a copy; writes that the copy lacks are lost',
    headers: ['Idempotency-Key'],
    body: volumePromotionShape,
    status: 202,
    shape: volumeShape,
    codes: [
      'tenant_not_found',
      'volume_not_found',
      'field_unknown',
      'field_type_invalid',
      'replica_node_invalid',
      'volume_not_ready',
      'volume_primary_mismatch',
      'idempotency_key_reused',
    ],
    handle,
  })

function snapshotEndpoints({ store }: VolumeDeps): Endpoint[] {
  const refusal = reject('volume_snapshot_not_implemented', 'snapshots', undefined)
  return [
    listEndpoint(SNAPSHOTS, {
      operation: 'listSnapshots',
      action: 'volumes:read',
      summary: 'List the snapshots of a volume; there are none, because none can be created',
      item: snapshotShape,
      codes: ['tenant_not_found', 'volume_not_found'],
      run: (request) => listSnapshots(store, request.caller.tenant, param(request, 'id'), request.query),
    }),
    endpoint('GET', `${SNAPSHOTS}/{snap}`, {
      operation: 'getSnapshot',
      action: 'volumes:read',
      summary: 'Read a snapshot of a volume',
      shape: snapshotShape,
      codes: ['tenant_not_found', 'volume_not_found', 'volume_snapshot_not_found'],
      run: (request) =>
        getSnapshot(store, request.caller.tenant, param(request, 'id'), param(request, 'snap')),
    }),
    endpoint('POST', SNAPSHOTS, {
      operation: 'createSnapshot',
      action: 'volumes:write',
      summary: 'Snapshots cannot be created: every request is rejected before its body is read',
      status: 201,
      shape: snapshotShape,
      codes: ['tenant_not_found', 'volume_snapshot_not_implemented'],
      refusal,
      run: () => refused(refusal),
    }),
  ]
}
