// Assigns each container a fixed address on each of its networks, so that the router's upstreams stay valid when a
// container restarts. An address is reused only when its container is gone and no router uses it, so a request for one
// deployment never reaches a container of another. See docs/design/routing.md#upstreams.

import type { AssignmentId } from '@holdfast/contract'
import { type AddressRange, addressText, readRange } from './subnets.ts'

/** Number of reserved addresses at the start of a subnet: the network itself and its gateway. */
const RESERVED_AT_START = 2
const NONE: ReadonlySet<string> = new Set()
/** Stands for the network that all containers of the tenant without networks of their own share. */
const TENANT_NETWORK = ''

export interface Addresses {
  /** Sets the subnet of a network, by default the tenant's; undefined if Docker chooses the containers' addresses. */
  setSubnet(subnet: string | undefined, network?: string): void
  /**
   * Returns the address for an assignment's container on a network: its previous address if that is free, else the lowest
   * free one; undefined if Docker chooses. Throws if no address is free, because Docker might choose one that a router
   * still uses.
   */
  assign(holder: AssignmentId, network?: string): string | undefined
  /** Records that a container uses the address. */
  markInUse(address: string): void
  /**
   * Replaces the addresses in use by those in the engine's container list. An assignment for which `mayHold` is true
   * keeps its addresses even if the list lacks them, because the list may be older than the container.
   */
  setSeen(addresses: Iterable<string>, mayHold: (holder: AssignmentId) => boolean): void
  /** Releases the addresses of an assignment whose container is gone. */
  release(holder: AssignmentId): void
}

type AddressByNetwork = Map<string, string>

/** Creates the address table. `routed`: whether requests to an address may be in flight. */
export function createAddresses(routed: (address: string) => boolean): Addresses {
  const held = new Map<AssignmentId, AddressByNetwork>()
  const ranges = new Map<string, AddressRange>()
  let seen = new Set<string>()

  const isFree = (address: string, taken: ReadonlySet<string>): boolean =>
    !seen.has(address) && !taken.has(address) && !routed(address)
  return {
    setSubnet(subnet, network = TENANT_NETWORK) {
      const range = subnet === undefined ? undefined : readRange(subnet)
      if (range === undefined) ranges.delete(network)
      else ranges.set(network, range)
    },
    assign(holder, network = TENANT_NETWORK) {
      const range = ranges.get(network)
      if (range === undefined) return undefined
      const own: AddressByNetwork = held.get(holder) ?? new Map<string, string>()
      const before = own.get(network)
      // A network that was recreated may have another subnet.
      if (before !== undefined && isWithin(range, before) && isFree(before, NONE)) return before
      const taken = new Set([...held.values()].flatMap((addresses) => [...addresses.values()]))
      const address = lowestFree(range, (each) => isFree(each, taken))
      held.set(holder, own.set(network, address))
      return address
    },
    markInUse: (address) => seen.add(address),
    setSeen(addresses, mayHold) {
      seen = new Set(addresses)
      for (const holder of held.keys()) if (!mayHold(holder)) held.delete(holder)
    },
    release: (holder) => held.delete(holder),
  }
}

function isWithin({ start, end }: AddressRange, address: string): boolean {
  const place = readRange(address)
  return place !== undefined && place.start >= start && place.end <= end
}

function lowestFree({ start, end }: AddressRange, isFree: (address: string) => boolean): string {
  // Stops before the last address of the subnet, which is the broadcast address.
  for (let number = start + RESERVED_AT_START; number < end - 1; number += 1) {
    const address = addressText(number)
    if (isFree(address)) return address
  }
  throw new Error('No address of the network is free.')
}
