// Finds the requests of a platform's loads that should not have failed. A reloaded router closes connections on which it
// has not read a request yet, so requests to it may be sent twice. See docs/design/routing.md#reloads

import type { Load, LoadFailure } from '../load/http-load.ts'

/**
 * Returns a function that finds the requests since its last call that failed, or were sent twice to routers other than the
 * reloaded ones.
 */
export function createFailureSearch() {
  const known = new Set<LoadFailure>()
  return (loads: readonly Load[], reloaded: readonly string[]): LoadFailure[] => {
    const results = loads.map((load) => load.result())
    const resent = results.flatMap((each) => each.resent)
    const failed = results.flatMap(({ failures }) => failures)
    const recent = [...failed, ...resent].filter((each) => !known.has(each))
    for (const each of recent) known.add(each)
    return recent.filter((each) => failed.includes(each) || !reloaded.includes(each.target))
  }
}
