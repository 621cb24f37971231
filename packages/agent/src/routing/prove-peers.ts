// Finds out which peers accept this node's certificate. A peer receives the certificate from the server at about the same
// time as this node receives the peer's, so requests use mutual TLS only after one handshake has succeeded.

import type { Logger } from 'pino'
import { createLimit } from '../converge/limit.ts'
import type { PeerRouter, PeerSecurity, RouterAdmin } from '../ports/router.ts'

const PROBE_EVERY_MS = 3000
const MAX_PROBES = 8
/** Number of failed probes in a row after which the operator is warned. */
const WARN_AFTER = 20

export interface PeerProver {
  /** Called with the security that the router has loaded. Probes the peers that are not proven yet. */
  prove(security: PeerSecurity): void
  isProven(peer: PeerRouter): boolean
  close(): void
}

interface ProverDeps {
  readonly probe: RouterAdmin['probe']
  onProven(): void
  readonly log: Logger
}

export function createPeerProver({ probe, onProven, log }: ProverDeps): PeerProver {
  const limit = createLimit(MAX_PROBES)
  /** The failed probes of each peer; undefined for a peer that is proven. */
  let failures = new Map<string, number | undefined>()
  let last: PeerSecurity | undefined
  let running = false

  async function probeOne(peer: PeerRouter, security: PeerSecurity): Promise<void> {
    const key = keyOf(peer, security)
    const before = failures.get(key)
    if (before === undefined) return
    const accepted = await probe(peer, security.identity)
    if (!failures.has(key)) return
    failures.set(key, accepted ? undefined : before + 1)
    if (accepted) onProven()
    else if (before + 1 === WARN_AFTER)
      log.warn({ peer: peer.address }, 'peer router cannot be reached by mutual TLS, plain HTTP is used')
  }
  async function round(): Promise<void> {
    if (running || last === undefined || !last.acceptPlain) return
    running = true
    const security = last
    await Promise.all(security.peers.map((peer) => limit(() => probeOne(peer, security))))
    running = false
  }
  const timer = setInterval(() => void round(), PROBE_EVERY_MS).unref()
  return {
    prove(security) {
      const reachable = security.peers.filter(({ address }) => address !== undefined)
      const keys = reachable.map((peer) => keyOf(peer, security))
      const isNew = keys.some((key) => !failures.has(key))
      failures = new Map(keys.map((key) => [key, failures.has(key) ? failures.get(key) : 0]))
      last = security
      if (isNew) void round()
    },
    isProven(peer) {
      const key = last && keyOf(peer, last)
      return key !== undefined && failures.has(key) && failures.get(key) === undefined
    },
    close: () => clearInterval(timer),
  }
}

const keyOf = ({ address, certificates }: PeerRouter, { identity }: PeerSecurity): string =>
  [address, ...certificates, identity.certificate].join(' ')
