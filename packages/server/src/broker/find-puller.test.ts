import { asAssignmentId, asNodeId, asOwner, asTenantId, asVolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { deployments, nodes, placements, volumes, volumeWriters } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { findPuller } from './find-puller.ts'

const tenant = asTenantId('00000000-0000-4000-8000-000000000001')
const volume = asVolumeId('vol_01JCPZ0000000000000000000A')
const nodeId = asNodeId('node_01JCPZ0000000000000000000B')
const OTHER = asNodeId('node_01JCPZ0000000000000000000C')
const UID = 'dep_01JCPZ0000000000000000000A'
const owner = asOwner(`deployment/${UID}`)
const mount = { volume, target: '/data', type: 'volume', readOnly: false }

type Records = ReadonlyMap<unknown, object>

/** A store with one record of each kind. The only assignment is on another node. */
function storeOf(over: Records = new Map()): Pick<Store, 'get'> {
  const records = new Map<unknown, object>([
    [volumes, { id: volume, promotable: [nodeId] }],
    [volumeWriters, { volume, owner }],
    [
      placements,
      {
        owner,
        name: 'db',
        assignments: [{ id: 'asg_1', nodeId: OTHER, templateHash: 't1', desired: 'running' }],
        templates: {
          t1: { image: 'registry.example/db@sha256:1', mounts: [mount] },
          t2: { image: 'reader.example/db@sha256:2', mounts: [{ ...mount, readOnly: true }] },
        },
      },
    ],
    [deployments, { uid: UID, deleting: false, spec: { resources: {} } }],
    [nodes, { id: nodeId }],
    ...over,
  ])
  const get = ({ collection }: { readonly collection: unknown }) => {
    const record = records.get(collection)
    return record && { record }
  }
  return { get } as unknown as Pick<Store, 'get'>
}
const ASK = { tenant, nodeId, volume, host: 'registry.example' }

test('a node pulls the images of the writers of a volume whose promotable copy it holds', () => {
  expect(findPuller(storeOf(), ASK)).toEqual({ id: nodeId })
})

test.each([
  ['a copy that is not promotable', ASK, new Map([[volumes, { id: volume, promotable: [OTHER] }]])],
  ['a volume without a writer', ASK, new Map([[volumeWriters, undefined]])],
  ['another registry', { ...ASK, host: 'other.example' }, new Map()],
  ['a registry that only a reader uses', { ...ASK, host: 'reader.example' }, new Map()],
  [
    'a deployment that is being deleted',
    ASK,
    new Map([[deployments, { uid: UID, deleting: true, spec: {} }]]),
  ],
  ['no volume', { tenant, nodeId, host: ASK.host }, new Map()],
  ['an assignment of another node', { ...ASK, owner, assignmentId: asAssignmentId('asg_1') }, new Map()],
])('a node pulls nothing for %s', (_, ask, over) => {
  expect(findPuller(storeOf(over as Records), ask)).toBeUndefined()
})
