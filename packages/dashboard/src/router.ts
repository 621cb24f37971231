// The addresses of the dashboard. Pages are loaded when they are opened; the shell is part of the first load.

import { createRouter } from '@tanstack/react-router'
import { createQueryClient } from './api/query-client.ts'
import { deploymentPages } from './routes/deployment.tsx'
import { home, login, platform, root, tenant } from './routes/frames.ts'
import { platformPages } from './routes/platform.ts'
import { tenantPages } from './routes/tenant.ts'
import { NoPage } from './shell/no-page.tsx'
import { PageError } from './shell/page-error.tsx'

export const queries = createQueryClient(() => {
  const { pathname } = router.state.location
  if (pathname !== '/login') void router.navigate({ to: '/login', search: { next: pathname } })
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    login,
    platform.addChildren([...platformPages]),
    tenant.addChildren([...tenantPages, deploymentPages]),
  ]),
  context: { queries },
  basepath: '/ui',
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NoPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
