// The alternative names of a certificate as Node prints them, in the notation in which openssl accepts them.

import { isIPv6 } from 'node:net'

/** `DNS:a.example, IP Address:127.0.0.1` becomes [`DNS:a.example`, `IP:127.0.0.1`]. */
export function decodeNames(subjectAltName: string | undefined): string[] {
  if (subjectAltName === undefined) return []
  return subjectAltName.split(', ').map((name) => {
    const address = /^IP Address:(.*)$/.exec(name)?.[1]
    return address === undefined ? name : `IP:${isIPv6(address) ? shorten(address) : address}`
  })
}

/** The usual short form of an IPv6 address, as in URLs. */
const shorten = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1)
