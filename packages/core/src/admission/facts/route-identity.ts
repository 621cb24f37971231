// Decides whether two routes are equal in host and path, for the rules on a body and for the route claims in the store.

import { type Route, routeTexts } from '@holdfast/contract'

/** The default path of a route, which matches every path of the host. */
export const ROOT_PATH = routeTexts.path.default

/**
 * A key made of host and path, equal for equal routes. Paths that differ only in case are equal, because routers
 * disagree on whether case matters. Host and path contain no space, so a space separates them.
 */
export function routeIdentity({ host, path }: Pick<Route, 'host' | 'path'>): string {
  return `${host} ${path.toLowerCase()}`
}
