// Whose is an address of the tenant's network? The agent gives each container one for its whole life, so that what a router
// was told of it stays true when the container restarts. An address is given anew only when its container is gone and no
// router leads to it any more: a request for one deployment never reaches the container of another. SAFETY 2 row 15.

import type { AssignmentId } from '@holdfast/contract'
import { addressText, readRange } from './subnets.ts'

/** The network itself and its gateway. */
const RESERVED_AT_START = 2
const NOBODY: ReadonlySet<string> = new Set()

export interface Addresses {
  /** The tenant's network; undefined where the engine chooses the addresses. */
  setSubnet(subnet: string | undefined): void
  /**
   * The lowest free one, the same again for the same holder; undefined where the engine chooses. Throws where none is free:
   * the engine would choose one that a router leads to.
   */
  take(holder: AssignmentId): string | undefined
  /** Is in use, by whomever: seen on the engine, or refused by it. */
  note(address: string): void
  /** What the engine lists now, and who may hold one beside that: a list may be older than what was made since. */
  setSeen(addresses: Iterable<string>, mayHold: (holder: AssignmentId) => boolean): void
  /** Its container is gone. */
  letGo(holder: AssignmentId): void
}

/** `routed`: does a router lead to the address, or may it, or did it a short while ago? */
export function createAddresses(routed: (address: string) => boolean): Addresses {
  const held = new Map<AssignmentId, string>()
  let seen = new Set<string>()
  let range: { start: number; end: number } | undefined

  const isFree = (address: string, taken: ReadonlySet<string>): boolean =>
    !seen.has(address) && !taken.has(address) && !routed(address)
  return {
    setSubnet(subnet) {
      range = subnet === undefined ? undefined : readRange(subnet)
    },
    take(holder) {
      if (range === undefined) return undefined
      const before = held.get(holder)
      if (before !== undefined && isFree(before, NOBODY)) return before
      const taken = new Set(held.values())
      // The last one is for broadcasts.
      for (let number = range.start + RESERVED_AT_START; number < range.end - 1; number += 1) {
        const address = addressText(number)
        if (!isFree(address, taken)) continue
        held.set(holder, address)
        return address
      }
      throw new Error('No address of the tenant network is free.')
    },
    note: (address) => seen.add(address),
    setSeen(addresses, mayHold) {
      seen = new Set(addresses)
      for (const holder of held.keys()) if (!mayHold(holder)) held.delete(holder)
    },
    letGo: (holder) => held.delete(holder),
  }
}
