// Builds the connections to the allowed registries. An invalid registry in the list throws at start, because the list
// comes from the operator's configuration and never from a tenant.

import { isIP } from 'node:net'
import { defined } from '@holdfast/contract'
import { parseRegistryHost } from '@holdfast/core'
import type { RegistryEntry } from '../../ports/registry.ts'
import { createOrigin, type Origin, splitHostPort } from './http-exchange.ts'
import { isDialable, pinnedLookup, type Resolve } from './pinned-lookup.ts'

export interface AllowedRegistry {
  readonly origin: Origin
  /** Token servers that may receive credentials, by canonical `host:port`. The registry itself is in the map, too. */
  readonly realms: ReadonlyMap<string, Origin>
}

export function buildAllowList(
  entries: readonly RegistryEntry[],
  resolve: Resolve,
): ReadonlyMap<string, AllowedRegistry> {
  const list = new Map<string, AllowedRegistry>()
  for (const entry of entries) {
    const host = requireHost(entry.host, entry)
    if (list.has(host)) throw new TypeError(`registry ${host} is listed twice`)
    list.set(host, buildRegistry(entry, resolve))
  }
  return list
}

export function closeAllowList(list: ReadonlyMap<string, AllowedRegistry>): void {
  for (const { origin, realms } of list.values()) {
    origin.agent.destroy()
    for (const realm of realms.values()) realm.agent.destroy()
  }
}

function buildRegistry(entry: RegistryEntry, resolve: Resolve): AllowedRegistry {
  const lookup = pinnedLookup(resolve, entry.allowAddress === true)
  const secure = entry.plainHttp !== true
  const originOf = (host: string) => createOrigin({ secure, host, lookup, ...defined({ ca: entry.ca }) })
  const endpoint = requireHost(entry.endpoint ?? entry.host, entry)
  const origin = originOf(endpoint)
  const realms = new Map([[endpoint, origin]])
  for (const text of entry.tokenRealms ?? []) {
    const realm = requireHost(text, entry)
    if (!realms.has(realm)) realms.set(realm, originOf(realm))
  }
  return { origin, realms }
}

/** Checks a host. An IP address is checked here, because net.connect calls the checking DNS lookup only for names. */
function requireHost(text: string, entry: RegistryEntry): string {
  const host = parseRegistryHost(text)
  if (host === undefined) throw new TypeError(`registry ${text} is not a host:port`)
  const { hostname } = splitHostPort(host)
  if (isIP(hostname) !== 0 && !(entry.allowAddress === true && isDialable(hostname, true))) {
    throw new TypeError(`registry ${host} is an address that its entry does not allow`)
  }
  if (isIP(hostname) === 0 && hostname.includes(':'))
    throw new TypeError(`registry ${host} is not an address`)
  return host
}
