// Builds the request matchers of each deployment. A path matches everything below it, by whole segments, and the longest
// path wins. Each matcher excludes longer paths of other deployments, so the order of routes does not matter. Paths are
// compared without case; admission ensures that no two paths differ in case alone.

import type { Backend } from '../../ports/router.ts'

export interface RouteMatcher {
  readonly host: string[]
  readonly path?: string[]
  readonly not?: { path: string[] }[]
  readonly [more: string]: string[] | { path: string[] }[]
}

interface Claim {
  readonly name: string
  readonly host: string
  readonly path: string
}

/** Request matchers by deployment name. If deployments share a host and path, only the first in `backends` matches. */
export function matchersOf(backends: readonly Backend[]): Map<string, RouteMatcher[]> {
  const byHost = Map.groupBy(claimsOf(backends), ({ host }) => host)
  const matchers = new Map<string, RouteMatcher[]>()
  for (const claims of byHost.values())
    for (const claim of claims) {
      const before = matchers.get(claim.name) ?? []
      matchers.set(claim.name, [...before, matcherOf(claim, claims)])
    }
  return matchers
}

function claimsOf(backends: readonly Backend[]): Claim[] {
  const taken = new Map<string, Claim>()
  for (const { name, routes } of backends)
    for (const { host, path } of routes) {
      const key = `${host} ${path.toLowerCase()}`
      if (!taken.has(key)) taken.set(key, { name, host, path: path.toLowerCase() })
    }
  return [...taken.values()]
}

function matcherOf({ name, host, path }: Claim, ofHost: readonly Claim[]): RouteMatcher {
  const longer = ofHost.filter((other) => other.name !== name && isBelow(other.path, path))
  return {
    host: [host],
    ...(path === '/' ? {} : { path: andBelow(path) }),
    ...(longer.length === 0 ? {} : { not: [{ path: longer.flatMap((other) => andBelow(other.path)) }] }),
  }
}

const andBelow = (path: string): string[] => [path, `${path}/*`]
const isBelow = (path: string, other: string): boolean =>
  path !== other && (other === '/' || path.startsWith(`${other}/`))
