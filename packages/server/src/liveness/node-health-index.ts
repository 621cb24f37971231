// The nodes of the whole cell as their records show them: which are silent and since when this process has seen that, and
// whose session nobody holds. Kept up by the changes alone, so that looking costs nothing while all is well.
// DECISIONS 5 (Node, Control-plane node), SAFETY 4e.

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
  /** Those that were heard once and are not given up. */
  cellNodes(now: number): Iterable<CellNode>
  silentCount(now: number): number
  /** Neither pending nor failed, and their session names a server replica that is gone. */
  orphans(): SilentNode[]
  /** Control-plane nodes that were given up although a server runs there. */
  revived(now: number): SilentNode[]
  /** Whether it is a control-plane node and a server replica that runs there was heard lately. */
  isServing(nodeId: NodeId, now: number): boolean
  /** So long we did not look: nobody's silence grew meanwhile. */
  giveBack(ms: number): void
}

interface Known extends SilentNode {
  readonly name: string
  readonly controlPlane: boolean
  readonly status: NodeStatus
  readonly holder: string | null
  /** When we saw that it is called unreachable. */
  unreachableAt: number | undefined
}

interface Server {
  /** When its heartbeat last changed, or when we first met its name. */
  heardAt: number
  gone: boolean
  readonly nodeName: string | undefined
}

export interface CellSource {
  readonly store: Pick<Store, 'get' | 'list' | 'keysOf'>
  /** Our own id among the server replicas: what we hold ourselves is never in doubt. */
  readonly self: string
  readonly unreachableMs: number
}

interface Cell extends CellSource {
  readonly known: Map<NodeId, Known>
  readonly byHolder: Map<string, Set<NodeId>>
  readonly servers: Map<string, Server>
  readonly controlPlane: Set<NodeId>
  readonly unreachable: Set<NodeId>
}

export function createNodeHealthIndex(source: CellSource, now: number): NodeHealthIndex {
  const cell: Cell = {
    ...{ ...source, known: new Map(), byHolder: new Map(), servers: new Map() },
    ...{ controlPlane: new Set(), unreachable: new Set() },
  }
  const { store, known } = cell
  for (const { record } of store.list(tenants))
    for (const { id } of store.keysOf(nodes, record.id)) takeNode(cell, record.id, asNodeId(id), now)
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
        return node !== undefined && isGivenUp(node) && isServing(cell, id, at) ? [node] : []
      }),
    isServing: (nodeId, at) => isServing(cell, nodeId, at),
    giveBack: (ms) => giveBack(cell, ms),
  }
}

const isGivenUp = ({ status }: Known): boolean => status === 'unreachable' || status === 'failed'
const isCounted = ({ status }: Known): boolean => status === 'ready' || status === 'unreachable'

function applyChange(cell: Cell, { kind, key: { tenant, folder, id } }: Change, now: number): void {
  const put = kind === 'put'
  if (tenant === undefined && folder === serverReplicas.folder) {
    if (put) meet(cell, id, now)
    else miss(cell, id)
  }
  if (tenant === undefined || folder !== nodes.folder) return
  if (put) takeNode(cell, tenant, asNodeId(id), now)
  else forgetNode(cell, asNodeId(id))
}

function meet({ store, servers }: Cell, id: string, now: number): void {
  const record = store.get(globally(serverReplicas, id))?.record
  servers.set(id, { heardAt: now, gone: record === undefined, nodeName: record?.nodeName })
}

/** Remembered as long as a node names it: since then nobody knows of that node. */
function miss({ servers, byHolder }: Cell, id: string): void {
  const server = servers.get(id)
  if (server !== undefined) server.gone = true
  if (!byHolder.has(id)) servers.delete(id)
}

function takeNode(cell: Cell, tenant: TenantId, nodeId: NodeId, now: number): void {
  const record = cell.store.get(inTenant(tenant, nodes, nodeId))?.record
  // What cannot be read is not gone: it stays what it was.
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
  if (!cell.servers.has(holder)) meet(cell, holder, now)
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

/** A replica that is not heard has not told us of its nodes either: in doubt they are silent. */
function isDumb({ self, servers, unreachableMs }: Cell, holder: string | null, now: number): boolean {
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

function silentSince(cell: Cell, { unreachableAt, holder }: Known, now: number): number | undefined {
  if (unreachableAt !== undefined) return unreachableAt - cell.unreachableMs
  return isDumb(cell, holder, now) && holder !== null ? cell.servers.get(holder)?.heardAt : undefined
}

/** At the most: one that is unreachable and whose replica is dumb as well counts twice. */
function silentCount(cell: Cell, now: number): number {
  let count = cell.unreachable.size
  for (const [holder, held] of cell.byHolder) if (isDumb(cell, holder, now)) count += held.size
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

function giveBack({ servers, known, unreachable }: Cell, ms: number): void {
  for (const server of servers.values()) server.heardAt += ms
  for (const id of unreachable) {
    const node = known.get(id)
    if (node?.unreachableAt !== undefined) node.unreachableAt += ms
  }
}
