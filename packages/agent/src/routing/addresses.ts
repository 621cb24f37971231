// Assigns each container a fixed address on the tenant's network, so that the router's upstreams stay right when it
// restarts. An address is reused only when its container is gone and no router uses it, so a request for one deployment
// never reaches a container of another. See docs/design/routing.md#upstreams.

import type { AssignmentId } from '@holdfast/contract'
import { addressText, readRange } from './subnets.ts'

/** The network itself and its gateway. */
const RESERVED_AT_START = 2
const NONE: ReadonlySet<string> = new Set()

export interface Addresses {
  /** The tenant's subnet; undefined if Docker chooses the addresses. */
  setSubnet(subnet: string | undefined): void
  /**
   * The lowest free address, the same again for the same holder; undefined if Docker chooses. Throws if none is free,
   * because Docker might choose one that a router still uses.
   */
  assign(holder: AssignmentId): string | undefined
  /** The address is used by some container. */
  markInUse(address: string): void
  /** Replaces the addresses in use by a list of the engine. Assignments that `mayHold` keep theirs: the list may be older. */
  setSeen(addresses: Iterable<string>, mayHold: (holder: AssignmentId) => boolean): void
  /** The holder's container is gone. */
  release(holder: AssignmentId): void
}

/** `routed`: whether requests to the address may be in flight. */
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
    assign(holder) {
      if (range === undefined) return undefined
      const before = held.get(holder)
      if (before !== undefined && isFree(before, NONE)) return before
      const taken = new Set(held.values())
      // The last address of a subnet is its broadcast address.
      for (let number = range.start + RESERVED_AT_START; number < range.end - 1; number += 1) {
        const address = addressText(number)
        if (!isFree(address, taken)) continue
        held.set(holder, address)
        return address
      }
      throw new Error('No address of the tenant network is free.')
    },
    markInUse: (address) => seen.add(address),
    setSeen(addresses, mayHold) {
      seen = new Set(addresses)
      for (const holder of held.keys()) if (!mayHold(holder)) held.delete(holder)
    },
    release: (holder) => held.delete(holder),
  }
}
