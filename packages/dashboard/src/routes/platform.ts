// The pages of platform administrators.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { platform } from './frames.ts'
import { given, text } from './search.ts'

const platformHome = createRoute({
  getParentRoute: () => platform,
  path: '/',
  component: lazyRouteComponent(() => import('../features/platform/platform-page.tsx'), 'PlatformPage'),
})

const servers = createRoute({
  getParentRoute: () => platform,
  path: 'servers',
  component: lazyRouteComponent(() => import('../features/platform/servers-page.tsx'), 'ServersPage'),
})

const tenants = createRoute({
  getParentRoute: () => platform,
  path: 'tenants',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('../features/platform/tenants-page.tsx'), 'TenantsPage'),
})

const tenantPage = createRoute({
  getParentRoute: () => platform,
  path: 'tenants/$id',
  component: lazyRouteComponent(() => import('../features/platform-tenant/tenant-page.tsx'), 'TenantPage'),
})

export const platformPages = [platformHome, servers, tenants, tenantPage] as const
