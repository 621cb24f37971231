// Classifies the IP addresses to which the server may connect. The resolved address is checked, never the host name.

import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Class of an IP address: `private` needs the operator's permission; `never`, such as multicast, is always refused. */
export type AddressClass = 'public' | 'private' | 'never'

type Network = readonly [address: string, prefix: number]

const PRIVATE_V4: readonly Network[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
]
const NEVER_V4: readonly Network[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
const PRIVATE_V6: readonly Network[] = [
  ['::1', 128],
  ['fc00::', 7],
]
/** Networks to which the server never connects: parts of the public range 2000::/3, a metadata address in fc00::/7. */
const NEVER_V6: readonly Network[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['fd00:ec2::254', 128],
]
const GLOBAL_V6: readonly Network[] = [['2000::', 3]]

const privateV4 = blockList('ipv4', PRIVATE_V4)
const neverV4 = blockList('ipv4', NEVER_V4)
const privateV6 = blockList('ipv6', PRIVATE_V6)
const neverV6 = blockList('ipv6', NEVER_V6)
const globalV6 = blockList('ipv6', GLOBAL_V6)

export function classifyAddress(address: string): AddressClass {
  if (isIPv4(address)) return classify(address, 'ipv4', neverV4.check(address, 'ipv4'), privateV4)
  if (!isIPv6(address) || address.includes('%')) return 'never'
  const refused = neverV6.check(address, 'ipv6')
  if (classify(address, 'ipv6', refused, privateV6) === 'private') return 'private'
  return !refused && globalV6.check(address, 'ipv6') ? 'public' : 'never'
}

function classify(address: string, family: 'ipv4' | 'ipv6', refused: boolean, own: BlockList): AddressClass {
  if (refused) return 'never'
  return own.check(address, family) ? 'private' : 'public'
}

function blockList(family: 'ipv4' | 'ipv6', networks: readonly Network[]): BlockList {
  const list = new BlockList()
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, family)
  return list
}
