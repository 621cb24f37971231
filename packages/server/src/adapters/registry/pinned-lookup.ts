// Name resolution for a registry connection: resolves once, checks every address and returns exactly the checked
// addresses. net.connect uses these addresses directly, so DNS rebinding between check and connection is impossible.

import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { classifyAddress } from '../../net/address-class.ts'

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** Error code of a rejected address, by which the error is recognized after it has passed through node:http. */
export const ADDRESS_REFUSED = 'HOLDFAST_ADDRESS_REFUSED'

export const resolveBySystem: Resolve = (hostname) => dns.lookup(hostname, { all: true })

/** Whether a registry may have this address. A name is rejected if one of its addresses is not allowed. */
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
  const isAllowed = [first, ...others].every(
    ({ address, family }) => isIP(address) === family && isDialable(address, allowAddress),
  )
  if (!isAllowed) throw coded(ADDRESS_REFUSED)
  return [first, ...others]
}

function coded(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code })
}
