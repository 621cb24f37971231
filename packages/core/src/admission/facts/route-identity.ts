// Decides whether two routes are the same, for the rules on a body and for the route claims in the store.

import type { Route } from '@holdfast/contract'

/** The default path of a route, which matches all paths of its host. */
export const ROOT_PATH = '/'

/**
 * A key for the host and path, equal for equal routes. Paths that differ only in case are equal, because routers
 * disagree on whether case matters. Neither part can hold a space.
 */
export function routeIdentity({ host, path }: Pick<Route, 'host' | 'path'>): string {
  return `${host} ${path.toLowerCase()}`
}
