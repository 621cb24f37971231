import { expect, test } from 'vitest'
import { router } from './router.ts'
import { examinedRoutes, redirectingRoutes } from './routes/examined-routes.ts'

const withoutSearch = (route: string): string => route.split('?')[0] ?? ''

test('every route is examined for accessibility by exactly one file of tests', () => {
  // One file may examine a route with several searches, such as the kinds of a change.
  const perFile = Object.values(examinedRoutes).map((routes) => [...new Set(routes.map(withoutSearch))])
  const examined = [...perFile.flat(), ...Object.keys(redirectingRoutes)]
  expect(examined.toSorted()).toEqual(Object.keys(router.routesByPath).toSorted())
})

test('a route without a page leads to one that is examined', () => {
  const examined: readonly string[] = Object.values(examinedRoutes).flat()
  for (const target of Object.values(redirectingRoutes)) expect(examined).toContain(target)
})
