// Assigns each container a fixed address on the tenant's network, so that the router's upstreams stay valid when a
// container restarts. An address is reused only when its container is gone and no router uses it, so a request for one
// deployment never reaches a container of another. See docs/design/routing.md#upstreams.

import type { AssignmentId } from '@holdfast/contract'
import { addressText, readRange } from './subnets.ts'

/** Number of reserved addresses at the start of a subnet: the network itself and its gateway. */
const RESERVED_AT_START = 2
const NONE: ReadonlySet<string> = new Set()

export interface Addresses {
  /** Sets the tenant's subnet; undefined if Docker chooses the containers' addresses. */
  setSubnet(subnet: string | undefined): void
  /**
   * Returns the address for an assignment's container: its previous address if that is free, else the lowest free one;
   * undefined if Docker chooses. Throws if no address is free, because Docker might choose one that a router still uses.
   */
  assign(holder: AssignmentId): string | undefined
  /** Records that a container uses the address. */
  markInUse(address: string): void
  /**
   * Replaces the addresses in use by those in the engine's container list. An assignment for which `mayHold` is true
   * keeps its address even if the list lacks it, because the list may be older than the container.
   */
  setSeen(addresses: Iterable<string>, mayHold: (holder: AssignmentId) => boolean): void
  /** Releases the address of an assignment whose container is gone. */
  release(holder: AssignmentId): void
}

/** Creates the address table. `routed`: whether requests to an address may be in flight. */
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
      // Stops before the last address of the subnet, which is the broadcast address.
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
