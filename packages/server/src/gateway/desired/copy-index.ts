// Indexes the copies of volumes that each node must hold or delete, from the volume records, with the images of their
// writers. Updated with each change of a record. See docs/design/volumes.md#copies-that-agents-are-sent

import { isDeepStrictEqual } from 'node:util'
import {
  asNodeId,
  asOwner,
  asVolumeId,
  type DesiredCopy,
  type NodeId,
  type Peer,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import { desiredCopies } from '@holdfast/core'
import { hostOfPeer, unusablePeerHost } from '@holdfast/core/node'
import type { Change } from '../../store/cache/record-index.ts'
import { nodeNames, nodes, placements, pools, tenants, volumes } from '../../store/records.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import type { GatewayDeps, NodeAddress } from '../deps.ts'
import { POOL } from './pool-decisions.ts'
import { createUnreadable } from './unreadable.ts'
import { createWriterImages } from './writer-images.ts'

/** Called with a node and a volume whose copy on the node changed, or one of whose peers did. */
export type OnCopyChange = (node: NodeAddress, changed: VolumeId | typeof POOL) => void

export interface CopyIndex {
  copyOf(node: NodeAddress, volume: VolumeId): DesiredCopy | undefined
  copiesOf(node: NodeAddress): DesiredCopy[]
  /** The nodes with which this node exchanges copies, as far as their agents accept peers. */
  peersOf(node: NodeAddress): Peer[]
  /** False while a volume of the tenant cannot be read, because the index may then lack copies. */
  isComplete(tenant: TenantId): boolean
  apply(changes: readonly Change[], onChange: OnCopyChange): void
}

type IndexStore = Pick<GatewayDeps['store'], 'list' | 'keysOf' | 'get'>
type CopiesByNode = Map<string, Map<VolumeId, DesiredCopy>>
type ByNode = ReadonlyMap<NodeId, DesiredCopy>

const keyOf = ({ tenant, nodeId }: NodeAddress): string => `${tenant}/${nodeId}`

export function createCopyIndex(store: IndexStore): CopyIndex {
  const byNode: CopiesByNode = new Map()
  const known = new Map<string, ByNode>()
  const reachable = new Map<string, string>()
  const unreadable = createUnreadable()
  const images = createWriterImages(store)

  const update = (tenant: TenantId, id: VolumeId, gone: boolean, onChange: OnCopyChange): void => {
    const volume = gone ? undefined : store.get(inTenant(tenant, volumes, id))?.record
    unreadable.note(tenant, id, gone || volume !== undefined)
    if (!gone && volume === undefined) return
    const before = known.get(`${tenant}/${id}`) ?? NONE
    const after = volume === undefined ? NONE : desiredCopies(volume, images.imagesOf(tenant, id))
    if (volume === undefined) known.delete(`${tenant}/${id}`)
    else known.set(`${tenant}/${id}`, after)
    for (const nodeId of new Set([...before.keys(), ...after.keys()])) {
      const copy = after.get(nodeId)
      if (isDeepStrictEqual(before.get(nodeId), copy)) continue
      setCopy(byNode, { tenant, nodeId }, id, copy)
      onChange({ tenant, nodeId }, id)
      // After the last copy has left a released node, all data of its pool is deleted.
      if (copy === undefined) onChange({ tenant, nodeId }, POOL)
    }
  }

  /** Decisions about a pool depend on its report, and on whether the node leaves its tenant. */
  const updatePools = ({ tenant, folder, id }: Change['key'], onChange: OnCopyChange): void => {
    if (folder === pools.folder && tenant !== undefined) onChange({ tenant, nodeId: asNodeId(id) }, POOL)
    if (folder === nodeNames.folder && tenant === undefined)
      for (const claim of store.get(globally(nodeNames, id))?.record.claims ?? []) onChange(claim, POOL)
  }

  /** The peers of a node that accepts peers at another address, or with another key, must learn it. */
  const updateNode = (tenant: TenantId, nodeId: NodeId, onChange: OnCopyChange): void => {
    const node = { tenant, nodeId }
    const { agentPeerAddress = '', publicKey = '' } = store.get(inTenant(tenant, nodes, nodeId))?.record ?? {}
    const now = `${agentPeerAddress} ${publicKey}`
    if (reachable.get(keyOf(node)) === now) return
    if (byNode.has(keyOf(node))) reachable.set(keyOf(node), now)
    else reachable.delete(keyOf(node))
    for (const { volume, peers } of byNode.get(keyOf(node))?.values() ?? [])
      for (const peer of peers) onChange({ tenant, nodeId: peer }, volume)
  }

  for (const { record } of store.list(tenants)) {
    for (const { id } of store.keysOf(placements, record.id)) images.update(record.id, asOwner(id), false)
    for (const { id } of store.keysOf(volumes, record.id)) update(record.id, asVolumeId(id), false, () => {})
  }
  const copiesOf = (node: NodeAddress) => [...(byNode.get(keyOf(node))?.values() ?? [])]
  return {
    copyOf: (node, volume) => byNode.get(keyOf(node))?.get(volume),
    copiesOf,
    peersOf: (node) => peersOf(store, node.tenant, copiesOf(node)),
    isComplete: unreadable.isComplete,
    apply(changes, onChange) {
      for (const { kind, key } of changes) {
        updatePools(key, onChange)
        if (key.tenant === undefined) continue
        if (key.folder === volumes.folder) update(key.tenant, asVolumeId(key.id), kind === 'delete', onChange)
        if (key.folder === nodes.folder) updateNode(key.tenant, asNodeId(key.id), onChange)
        if (key.folder !== placements.folder) continue
        for (const id of images.update(key.tenant, asOwner(key.id), kind === 'delete'))
          if (known.has(`${key.tenant}/${id}`)) update(key.tenant, id, false, onChange)
      }
    },
  }
}

const NONE: ByNode = new Map()

function setCopy(byNode: CopiesByNode, node: NodeAddress, id: VolumeId, copy: DesiredCopy | undefined): void {
  const copies = byNode.get(keyOf(node)) ?? new Map<VolumeId, DesiredCopy>()
  if (copy === undefined) copies.delete(id)
  else copies.set(id, copy)
  if (copies.size === 0) byNode.delete(keyOf(node))
  else byNode.set(keyOf(node), copies)
}

function peersOf(store: IndexStore, tenant: TenantId, copies: readonly DesiredCopy[]): Peer[] {
  const ids = new Set(copies.flatMap(({ peers }) => peers))
  return [...ids].flatMap((nodeId) => {
    const node = store.get(inTenant(tenant, nodes, nodeId))?.record
    const address = node?.agentPeerAddress
    // The only node of a tenant may have stated any address, and has kept it when a second one came.
    if (node === undefined || address === undefined || unusablePeerHost(hostOfPeer(address)) !== undefined)
      return []
    return [{ nodeId, address, publicKeys: [node.publicKey] }]
  })
}
