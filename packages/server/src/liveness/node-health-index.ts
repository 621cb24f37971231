// Indexes the health of every node from the store's records: which nodes are silent and since when, and which have a
// session without a holder. A check is cheap, as only changes update the index. See docs/design/liveness.md#node-states.

import { asNodeId, type NodeId, type NodeStatus, type TenantId } from '@holdfast/contract'
import type { CellNode } from '@holdfast/core'
import type { Change } from '../store/cache/record-index.ts'
import { nodes, serverReplicas, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'

export interface SilentNode {
  readonly tenant: TenantId
  readonly nodeId: NodeId
}

export interface NodeHealthIndex {
  readonly size: number
  apply(changes: readonly Change[], now: number): void
  /** The nodes of all tenants that are ready or unreachable, with the start of their silence. */
  cellNodes(now: number): Iterable<CellNode>
  silentCount(now: number): number
  /** Ready or unreachable nodes whose session names a server replica that is gone. */
  orphans(): SilentNode[]
  /** Control-plane nodes that are unreachable or failed although a server runs on them. */
  revived(now: number): SilentNode[]
  /** Whether the node is a control-plane node with a server replica that recently sent a heartbeat. */
  isServing(nodeId: NodeId, now: number): boolean
  /** Moves all stored times forward by the time for which this process was suspended, which is no silence of a node. */
  shiftClocks(ms: number): void
}

interface IndexedNode extends SilentNode {
  readonly name: string
  readonly controlPlane: boolean
  readonly status: NodeStatus
  readonly holder: string | null
  /** Time at which this process first saw the status unreachable in the node's record. */
  unreachableAt: number | undefined
}

interface ServerReplica {
  /** Time at which the server replica's heartbeat last changed, or at which this process first saw the server replica. */
  heardAt: number
  gone: boolean
  readonly nodeName: string | undefined
}

export interface CellSource {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf'>
  /** The id of this process as a server replica. The nodes whose session it holds are never assumed silent. */
  readonly self: string
  readonly unreachableMs: number
}

interface Cell extends CellSource {
  readonly known: Map<NodeId, IndexedNode>
  readonly byHolder: Map<string, Set<NodeId>>
  readonly servers: Map<string, ServerReplica>
  readonly controlPlane: Set<NodeId>
  readonly unreachable: Set<NodeId>
}

export function createNodeHealthIndex(source: CellSource, now: number): NodeHealthIndex {
  const cell: Cell = {
    ...source,
    known: new Map(),
    byHolder: new Map(),
    servers: new Map(),
    controlPlane: new Set(),
    unreachable: new Set(),
  }
  const { store, known } = cell
  for (const { record } of store.list(tenants))
    for (const { id } of store.keysOf(nodes, record.id)) indexNode(cell, record.id, asNodeId(id), now)
  return {
    get size() {
      return known.size
    },
    apply: (changes, at) => {
      for (const change of changes) applyChange(cell, change, at)
    },
    cellNodes: (at) => cellNodes(cell, at),
    silentCount: (at) => silentCount(cell, at),
    orphans: () => orphans(cell),
    revived: (at) =>
      [...cell.controlPlane].flatMap((id) => {
        const node = known.get(id)
        return node !== undefined && isDown(node) && isServing(cell, id, at) ? [node] : []
      }),
    isServing: (nodeId, at) => isServing(cell, nodeId, at),
    shiftClocks: (ms) => shiftClocks(cell, ms),
  }
}

const isDown = ({ status }: IndexedNode): boolean => status === 'unreachable' || status === 'failed'
const isCounted = ({ status }: IndexedNode): boolean => status === 'ready' || status === 'unreachable'

function applyChange(cell: Cell, { kind, key: { tenant, folder, id } }: Change, now: number): void {
  const put = kind === 'put'
  if (tenant === undefined && folder === serverReplicas.folder) {
    if (put) indexServer(cell, id, now)
    else markServerGone(cell, id)
  }
  if (tenant === undefined || folder !== nodes.folder) return
  if (put) indexNode(cell, tenant, asNodeId(id), now)
  else forgetNode(cell, asNodeId(id))
}

function indexServer({ store, servers }: Cell, id: string, now: number): void {
  const record = store.get(globally(serverReplicas, id))?.record
  servers.set(id, { heardAt: now, gone: record === undefined, nodeName: record?.nodeName })
}

/** Marks a server replica as gone. Its index entry is kept while a node names it as the holder of its session. */
function markServerGone({ servers, byHolder }: Cell, id: string): void {
  const server = servers.get(id)
  if (server !== undefined) server.gone = true
  if (!byHolder.has(id)) servers.delete(id)
}

function indexNode(cell: Cell, tenant: TenantId, nodeId: NodeId, now: number): void {
  const record = cell.store.get(inTenant(tenant, nodes, nodeId))?.record
  // A node's record that cannot be read leaves the index unchanged.
  if (record === undefined) return
  const before = cell.known.get(nodeId)
  forgetNode(cell, nodeId)
  const { name, controlPlane, status, session } = record
  const silent = status === 'unreachable'
  const unreachableAt = silent ? (before?.unreachableAt ?? now) : undefined
  const holder = session.replica
  cell.known.set(nodeId, { tenant, nodeId, name, controlPlane, status, holder, unreachableAt })
  if (silent) cell.unreachable.add(nodeId)
  if (controlPlane) cell.controlPlane.add(nodeId)
  if (holder === null) return
  const held = cell.byHolder.get(holder) ?? new Set()
  cell.byHolder.set(holder, held.add(nodeId))
  if (!cell.servers.has(holder)) indexServer(cell, holder, now)
}

function forgetNode({ known, unreachable, controlPlane, byHolder, servers }: Cell, nodeId: NodeId): void {
  const holder = known.get(nodeId)?.holder
  known.delete(nodeId)
  unreachable.delete(nodeId)
  controlPlane.delete(nodeId)
  const held = typeof holder === 'string' ? byHolder.get(holder) : undefined
  if (held === undefined || typeof holder !== 'string') return
  held.delete(nodeId)
  if (held.size > 0) return
  byHolder.delete(holder)
  if (servers.get(holder)?.gone === true) servers.delete(holder)
}

/** Whether the holder sends no heartbeats. A silent holder reports no status, so its nodes are assumed silent, too. */
function isSilentHolder({ self, servers, unreachableMs }: Cell, holder: string | null, now: number): boolean {
  const heardAt = holder === null || holder === self ? undefined : servers.get(holder)?.heardAt
  return heardAt !== undefined && now - heardAt >= unreachableMs
}

function* cellNodes(cell: Cell, now: number): Generator<CellNode> {
  for (const node of cell.known.values()) {
    if (!isCounted(node)) continue
    const { nodeId: id, tenant, controlPlane } = node
    yield { id, tenant, controlPlane, silentSince: silentSince(cell, node, now) }
  }
}

function silentSince(cell: Cell, { unreachableAt, holder }: IndexedNode, now: number): number | undefined {
  if (unreachableAt !== undefined) return unreachableAt - cell.unreachableMs
  return isSilentHolder(cell, holder, now) && holder !== null ? cell.servers.get(holder)?.heardAt : undefined
}

/** Number of silent nodes, as an upper bound: an unreachable node whose holder is silent is counted twice. */
function silentCount(cell: Cell, now: number): number {
  let count = cell.unreachable.size
  for (const [holder, held] of cell.byHolder) if (isSilentHolder(cell, holder, now)) count += held.size
  return count
}

function orphans({ byHolder, servers, known, self }: Cell): SilentNode[] {
  const gone = [...byHolder].filter(([holder]) => holder !== self && servers.get(holder)?.gone === true)
  return gone
    .flatMap(([, held]) => [...held].flatMap((id) => known.get(id) ?? []))
    .filter((node) => isCounted(node))
}

function isServing({ known, controlPlane, servers, unreachableMs }: Cell, id: NodeId, now: number): boolean {
  const name = controlPlane.has(id) ? known.get(id)?.name : undefined
  if (name === undefined) return false
  return [...servers.values()].some(
    ({ nodeName, gone, heardAt }) => nodeName === name && !gone && now - heardAt < unreachableMs,
  )
}

function shiftClocks({ servers, known, unreachable }: Cell, ms: number): void {
  for (const server of servers.values()) server.heardAt += ms
  for (const id of unreachable) {
    const node = known.get(id)
    if (node?.unreachableAt !== undefined) node.unreachableAt += ms
  }
}
