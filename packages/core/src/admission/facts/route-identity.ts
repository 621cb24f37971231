// When are two routes one? A host and path belongs to one deployment of a tenant (DECISIONS 4), so both the rules on a body
// and the claims in the store must mean the same by it.

import type { Route } from '@holdfast/contract'

/** What a route without a path leads in: everything of its host. */
export const ROOT_PATH = '/'

/**
 * A text for the host and path, the same for routes that are one. Paths that differ in letter case alone are one: routers
 * do not agree on whether case counts, and whose a request is must not hang on that. Neither part can hold a space.
 */
export function routeIdentity({ host, path }: Pick<Route, 'host' | 'path'>): string {
  return `${host} ${path.toLowerCase()}`
}
