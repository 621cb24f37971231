// The frames of all pages: the root, sign-in, a tenant, and the platform.

import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { meQuery } from '../api/use-me.ts'
import { Home } from '../shell/home.tsx'
import { NoPage, NoPageAlone } from '../shell/no-page.tsx'
import { PlatformFrame, TenantFrame } from '../shell/tenant-frame.tsx'
import { given, text } from './search.ts'

/** Routes read data ahead of their pages with this. */
interface RouteContext {
  readonly queries: QueryClient
}

export const root = createRootRouteWithContext<RouteContext>()({
  component: Outlet,
  notFoundComponent: NoPageAlone,
})

export const home = createRoute({ getParentRoute: () => root, path: '/', component: Home })

export const login = createRoute({
  getParentRoute: () => root,
  path: 'login',
  validateSearch: ({ next }: { next?: unknown }) => given({ next: text(next) }),
  component: lazyRouteComponent(() => import('../features/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

export const tenant = createRoute({
  getParentRoute: () => root,
  path: 't/$tenant',
  loader({ context, params }) {
    void context.queries.prefetchQuery(meQuery(params.tenant))
  },
  component: TenantFrame,
  notFoundComponent: NoPage,
})

export const platform = createRoute({
  getParentRoute: () => root,
  path: 'platform',
  component: PlatformFrame,
  notFoundComponent: NoPage,
})
