// Resolves the server's name to its addresses in random order. The resolver may return the same order each time, and the
// agent would return to a server that refuses it. See docs/design/liveness.md#reconnects

import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

type Resolve = (
  hostname: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Creates a lookup for sockets, which try the addresses one after another. */
export function randomAddresses(
  resolve: Resolve = lookup,
  random: () => number = Math.random,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first, ...others] = error === null ? shuffle(addresses, random) : []
      if (first === undefined) callback(error, [])
      else if (options.all === true) callback(null, [first, ...others])
      else callback(null, first.address, first.family)
    })
  }
}

const shuffle = (addresses: readonly LookupAddress[], random: () => number): LookupAddress[] =>
  addresses
    .map((address) => ({ address, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ address }) => address)
