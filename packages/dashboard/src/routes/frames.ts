// The frames of all pages: the root, sign-in, a tenant, and the platform.

import { createRootRoute, createRoute, lazyRouteComponent, Outlet } from '@tanstack/react-router'
import { Home } from '../shell/home.tsx'
import { NoPage, NoPageAlone } from '../shell/no-page.tsx'
import { PlatformFrame, TenantFrame } from '../shell/tenant-frame.tsx'
import { given, text } from './search.ts'

export const root = createRootRoute({ component: Outlet, notFoundComponent: NoPageAlone })

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
  component: TenantFrame,
  notFoundComponent: NoPage,
})

export const platform = createRoute({
  getParentRoute: () => root,
  path: 'platform',
  component: PlatformFrame,
  notFoundComponent: NoPage,
})
