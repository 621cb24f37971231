// The name resolution of one registry connection: resolve once, judge every address, hand on exactly what was judged.
// net.connect dials what its lookup returns, so nothing can change between the check and the dial.

import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { classifyAddress } from '../../net/address-class.ts'

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** How an error of ours travels through node:http to whoever names the cause. */
export const ADDRESS_REFUSED = 'HOLDFAST_ADDRESS_REFUSED'

export const resolveBySystem: Resolve = (hostname) => dns.lookup(hostname, { all: true })

/** One refused address among several refuses the name: a mixed answer is how rebinding looks. */
export function isDialable(address: string, allowAddress: boolean): boolean {
  const found = classifyAddress(address)
  return found === 'public' || (found === 'private' && allowAddress)
}

export function pinnedLookup(resolve: Resolve, allowAddress: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(resolve, hostname, allowAddress).then(
      ([first, ...others]) => {
        if (options.all) callback(null, [first, ...others])
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    )
  }
}

async function resolveChecked(
  resolve: Resolve,
  hostname: string,
  allowAddress: boolean,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = await resolve(hostname)
  if (first === undefined) throw coded('ENOTFOUND')
  const sound = [first, ...others].every(
    ({ address, family }) => isIP(address) === family && isDialable(address, allowAddress),
  )
  if (!sound) throw coded(ADDRESS_REFUSED)
  return [first, ...others]
}

function coded(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code })
}
