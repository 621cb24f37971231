// The routers of the tenant's other nodes: which of them this node's router trusts, and to which it forwards by mutual
// TLS. Plain HTTP is used only while the server states that an older router of the tenant needs it. See
// docs/design/routing.md#peer-forwarding

import type { TenantRouter, TenantRouters } from '@holdfast/contract'
import type { PeerRouter, PeerSecurity, RouterIdentity } from '../ports/router.ts'
import { type ChosenPeers, isPeerAddress } from './plan-backends.ts'
import { readRouterCertificate } from './router-certificate.ts'

export interface RoutersChange {
  readonly complete: boolean
  readonly routers?: TenantRouters
}

export interface PeerRouters {
  apply(change: RoutersChange): void
  /** The routers to save on disk; undefined if no server has sent the routers. */
  known(): Required<TenantRouters> | undefined
  /** The configuration of the router; undefined: plain HTTP only, as with an older server. */
  security(): PeerSecurity | undefined
  /** `isProven`: whether the router of the peer has accepted this node's certificate. */
  choose(peers: readonly string[], isProven: (peer: PeerRouter) => boolean): ChosenPeers
}

export function createPeerRouters(identity: () => RouterIdentity): PeerRouters {
  let known: Required<TenantRouters> | undefined
  let trusted: ReadonlyMap<string, readonly PeerRouter[]> = new Map()
  return {
    apply({ complete, routers }) {
      if (routers === undefined) {
        // A complete set without routers is from an older server: its nodes may use plain HTTP at any time.
        if (complete && known !== undefined) known = { ...known, plain: true }
        return
      }
      known = {
        plain: routers.plain ?? known?.plain ?? true,
        others: routers.others ?? known?.others ?? [],
      }
      trusted = Map.groupBy(known.others.flatMap(readPeer), ({ plainAddress }) => plainAddress)
    },
    known: () => known,
    security: () =>
      known && { identity: identity(), acceptPlain: known.plain, peers: [...trusted.values()].flat() },
    choose(peers, isProven) {
      if (known === undefined) return { peers, securePeers: [] }
      const found = peers.map((address) => (trusted.get(address) ?? []).filter(hasAddress))
      const securePeers = [...new Set(found.flat().map(({ address }) => address))]
      if (!known.plain) return { peers: [], securePeers }
      const areUsable = found.every((routers) => routers.length > 0 && routers.every(isProven))
      return { peers, securePeers: areUsable ? securePeers : [] }
    },
  }
}

type Reachable = PeerRouter & { readonly address: string }
const hasAddress = (peer: PeerRouter): peer is Reachable => peer.address !== undefined

/** The agent does not trust the control plane blindly: invalid addresses and certificates are left out. */
function readPeer({ address: plainAddress, secureAddress, certificates }: TenantRouter): PeerRouter[] {
  const read = certificates.flatMap((one) => readRouterCertificate(one) ?? [])
  const [newest] = read
  if (newest === undefined) return []
  const pins = certificates.filter((one) => readRouterCertificate(one)?.name === newest.name)
  const address = secureAddress !== undefined && isPeerAddress(secureAddress) ? secureAddress : undefined
  return [{ plainAddress, address, name: newest.name, certificates: pins }]
}
