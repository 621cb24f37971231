// The renewals of promises to the agents of other nodes, over one lasting connection to each. A renewal that fails closes its
// connection; the next one opens another.

import { createHash } from 'node:crypto'
import type { NodeId, Peer } from '@holdfast/contract'
import type { PeerConnection } from './connection.ts'
import type { Answer, RenewItem, RenewRequest } from './messages.ts'
import { PeerError } from './peer-error.ts'

export interface RenewalLinks {
  /** Rejects after the deadline, and while the last renewal to the node is under way. */
  renew(peer: Peer, request: RenewRequest, items: readonly RenewItem[]): Promise<Answer>
  /** Closes the connections to nodes other than these. */
  keepOnly(nodes: ReadonlySet<NodeId>): void
  close(): void
}

/** The name of a set of volumes, which no other set has. */
export const nameOfSet = (items: readonly RenewItem[]): string =>
  createHash('sha256')
    .update(items.map(({ volume, epoch, cv }) => `${volume} ${epoch} ${cv}\n`).join(''))
    .digest('base64url')
    .slice(0, 22)

export function createRenewalLinks(
  dial: (peer: Peer) => Promise<PeerConnection>,
  deadlineMs: number,
): RenewalLinks {
  const links = new Map<NodeId, { readonly address: string; readonly connection: PeerConnection }>()
  let isClosed = false
  function drop(nodeId: NodeId): void {
    links.get(nodeId)?.connection.close()
    links.delete(nodeId)
  }
  async function linkTo(peer: Peer): Promise<PeerConnection> {
    const known = links.get(peer.nodeId)
    if (known?.address === peer.address) return known.connection
    drop(peer.nodeId)
    const connection = await dial(peer)
    if (isClosed) connection.close()
    else links.set(peer.nodeId, { address: peer.address, connection })
    return connection
  }
  async function exchange(connection: PeerConnection, request: RenewRequest): Promise<Answer> {
    await connection.request(request)
    return connection.readAnswer(deadlineMs)
  }
  return {
    async renew(peer, request, items) {
      try {
        const connection = await linkTo(peer)
        const first = await exchange(connection, request)
        if (first.answer !== 'unknown_set') return first
        await connection.request({ ...request, isFull: true })
        await connection.sendSet(items)
        return await connection.readAnswer(deadlineMs)
      } catch (error) {
        drop(peer.nodeId)
        throw error instanceof PeerError ? error : new PeerError('cut', String(error))
      }
    },
    keepOnly(nodes) {
      for (const nodeId of links.keys()) if (!nodes.has(nodeId)) drop(nodeId)
    },
    close() {
      isClosed = true
      for (const nodeId of [...links.keys()]) drop(nodeId)
    },
  }
}
