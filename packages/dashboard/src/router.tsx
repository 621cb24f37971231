// The addresses of the dashboard. Pages are loaded when they are opened; the shell is part of the first load.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router'
import { readChange } from './api/plan/read-change.ts'
import type { LogFilter } from './api/use-logs.ts'
import type { TimelineFilter } from './api/use-timeline.ts'
import { Home } from './shell/home.tsx'
import { NoPage, NoPageAlone } from './shell/no-page.tsx'
import { PageError } from './shell/page-error.tsx'
import { PlatformFrame, TenantFrame } from './shell/tenant-frame.tsx'

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Keeps the members of a search that are given; others are dropped from the address. */
function given<T extends { readonly [name: string]: string | undefined }>(search: T): Partial<T> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Partial<T>
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NoPageAlone })

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home })

const login = createRoute({
  getParentRoute: () => root,
  path: 'login',
  validateSearch: ({ next }: { next?: unknown }) => given({ next: text(next) }),
  component: lazyRouteComponent(() => import('./features/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

const tenant = createRoute({
  getParentRoute: () => root,
  path: 't/$tenant',
  component: TenantFrame,
  notFoundComponent: NoPage,
})

const platform = createRoute({
  getParentRoute: () => root,
  path: 'platform',
  component: PlatformFrame,
  notFoundComponent: NoPage,
})

const platformHome = createRoute({
  getParentRoute: () => platform,
  path: '/',
  component: lazyRouteComponent(() => import('./features/platform/platform-page.tsx'), 'PlatformPage'),
})

const servers = createRoute({
  getParentRoute: () => platform,
  path: 'servers',
  component: lazyRouteComponent(() => import('./features/platform/servers-page.tsx'), 'ServersPage'),
})

const tenants = createRoute({
  getParentRoute: () => platform,
  path: 'tenants',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('./features/platform/tenants-page.tsx'), 'TenantsPage'),
})

const tenantPage = createRoute({
  getParentRoute: () => platform,
  path: 'tenants/$id',
  component: lazyRouteComponent(() => import('./features/platform-tenant/tenant-page.tsx'), 'TenantPage'),
})

const overview = createRoute({
  getParentRoute: () => tenant,
  path: '/',
  component: lazyRouteComponent(() => import('./features/overview/overview-page.tsx'), 'OverviewPage'),
})

const deployments = createRoute({
  getParentRoute: () => tenant,
  path: 'deployments',
  validateSearch: ({ q, phase }: { q?: unknown; phase?: unknown }) =>
    given({ q: text(q), phase: text(phase) }),
  component: lazyRouteComponent(
    () => import('./features/deployments/deployments-page.tsx'),
    'DeploymentsPage',
  ),
})

const newDeployment = createRoute({
  getParentRoute: () => tenant,
  path: 'deployments/new',
  component: lazyRouteComponent(() => import('./features/editor/new-page.tsx'), 'NewPage'),
})

const networks = createRoute({
  getParentRoute: () => tenant,
  path: 'networks',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('./features/networks/networks-page.tsx'), 'NetworksPage'),
})

const jobs = createRoute({
  getParentRoute: () => tenant,
  path: 'jobs',
  validateSearch: ({ q, phase }: { q?: unknown; phase?: unknown }) =>
    given({ q: text(q), phase: text(phase) }),
  component: lazyRouteComponent(() => import('./features/jobs/jobs-page.tsx'), 'JobsPage'),
})

const job = createRoute({
  getParentRoute: () => tenant,
  path: 'jobs/$job',
  component: lazyRouteComponent(() => import('./features/job/job-page.tsx'), 'JobPage'),
})

const volumes = createRoute({
  getParentRoute: () => tenant,
  path: 'volumes',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('./features/volumes/volumes-page.tsx'), 'VolumesPage'),
})

const volume = createRoute({
  getParentRoute: () => tenant,
  path: 'volumes/$volume',
  component: lazyRouteComponent(() => import('./features/volume/volume-page.tsx'), 'VolumePage'),
})

const backups = createRoute({
  getParentRoute: () => tenant,
  path: 'backups',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('./features/backups/backups-page.tsx'), 'BackupsPage'),
})

const backup = createRoute({
  getParentRoute: () => tenant,
  path: 'backups/$backup',
  component: lazyRouteComponent(() => import('./features/backup/backup-page.tsx'), 'BackupPage'),
})

const residency = createRoute({
  getParentRoute: () => tenant,
  path: 'residency',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('./features/residency/residency-page.tsx'), 'ResidencyPage'),
})

const access = createRoute({
  getParentRoute: () => tenant,
  path: 'access',
  component: lazyRouteComponent(() => import('./features/access/access-page.tsx'), 'AccessPage'),
})

const timeline = createRoute({
  getParentRoute: () => tenant,
  path: 'events',
  validateSearch: (search: { subject?: unknown; until?: unknown; reads?: unknown }): TimelineFilter => ({
    ...given({ subject: text(search.subject), until: text(search.until) }),
    ...(search.reads === true ? { reads: true } : {}),
  }),
  component: lazyRouteComponent(() => import('./features/timeline/timeline-page.tsx'), 'TimelinePage'),
})

const nodes = createRoute({
  getParentRoute: () => tenant,
  path: 'nodes',
  component: lazyRouteComponent(() => import('./features/nodes/nodes-page.tsx'), 'NodesPage'),
})

const join = createRoute({
  getParentRoute: () => tenant,
  path: 'nodes/join',
  component: lazyRouteComponent(() => import('./features/join/join-page.tsx'), 'JoinPage'),
})

const node = createRoute({
  getParentRoute: () => tenant,
  path: 'nodes/$node',
  component: lazyRouteComponent(() => import('./features/node/node-page.tsx'), 'NodePage'),
})

const secrets = createRoute({
  getParentRoute: () => tenant,
  path: 'secrets',
  component: lazyRouteComponent(() => import('./features/secrets/secrets-page.tsx'), 'SecretsPage'),
})

const newSecret = createRoute({
  getParentRoute: () => tenant,
  path: 'secrets/new',
  validateSearch: ({ path }: { path?: unknown }) => given({ path: text(path) }),
  component: lazyRouteComponent(() => import('./features/secret/new-secret-page.tsx'), 'NewSecretPage'),
})

const secret = createRoute({
  getParentRoute: () => tenant,
  path: 'secrets/$namespace/$resource',
  component: lazyRouteComponent(() => import('./features/secret/secret-page.tsx'), 'SecretPage'),
})

const deployment = createRoute({
  getParentRoute: () => tenant,
  path: 'deployments/$name',
  // The shown time is kept while a person goes from page to page.
  validateSearch: ({ at }: { at?: unknown }) => given({ at: text(at) }),
  component: lazyRouteComponent(
    () => import('./features/deployment/deployment-frame.tsx'),
    'DeploymentFrame',
  ),
})

const deploymentHome = createRoute({
  getParentRoute: () => deployment,
  path: '/',
  component: () => <Navigate from="/t/$tenant/deployments/$name" to="./why" search={{}} replace />,
})

const why = createRoute({
  getParentRoute: () => deployment,
  path: 'why',
  validateSearch: ({ view }: { view?: unknown }) =>
    given({ view: view === 'groups' ? ('groups' as const) : undefined }),
  component: lazyRouteComponent(() => import('./features/deployment/why-page.tsx'), 'WhyPage'),
})

const replicas = createRoute({
  getParentRoute: () => deployment,
  path: 'replicas',
  component: lazyRouteComponent(() => import('./features/deployment/replicas-page.tsx'), 'ReplicasPage'),
})

const logs = createRoute({
  getParentRoute: () => deployment,
  path: 'logs',
  validateSearch: ({ replica, previous }: { replica?: unknown; previous?: unknown }): LogFilter => ({
    ...(typeof replica === 'number' && replica > 0 ? { replica } : {}),
    ...(previous === true ? { previous } : {}),
  }),
  component: lazyRouteComponent(() => import('./features/logs/logs-page.tsx'), 'LogsPage'),
})

const terminal = createRoute({
  getParentRoute: () => deployment,
  path: 'terminal',
  validateSearch: ({ replica }: { replica?: unknown }): { replica?: number } =>
    typeof replica === 'number' && replica > 0 ? { replica } : {},
  component: lazyRouteComponent(() => import('./features/terminal/terminal-page.tsx'), 'TerminalPage'),
})

const history = createRoute({
  getParentRoute: () => deployment,
  path: 'history',
  validateSearch: ({ from, to }: { from?: unknown; to?: unknown }): { from?: number; to?: number } => ({
    ...(typeof from === 'number' && from > 0 ? { from } : {}),
    ...(typeof to === 'number' && to > 0 ? { to } : {}),
  }),
  component: lazyRouteComponent(() => import('./features/history/history-page.tsx'), 'HistoryPage'),
})

const scaling = createRoute({
  getParentRoute: () => deployment,
  path: 'scaling',
  component: lazyRouteComponent(() => import('./features/scaling/scaling-page.tsx'), 'ScalingPage'),
})

const settings = createRoute({
  getParentRoute: () => deployment,
  path: 'settings',
  component: lazyRouteComponent(() => import('./features/editor/settings-page.tsx'), 'SettingsPage'),
})

const change = createRoute({
  getParentRoute: () => deployment,
  path: 'change',
  validateSearch: readChange,
  component: lazyRouteComponent(() => import('./features/change/change-page.tsx'), 'ChangePage'),
})

const rotation = createRoute({
  getParentRoute: () => deployment,
  path: 'rotation',
  component: lazyRouteComponent(() => import('./features/rotation/rotation-page.tsx'), 'RotationPage'),
})

const events = createRoute({
  getParentRoute: () => deployment,
  path: 'events',
  component: lazyRouteComponent(() => import('./features/deployment/events-page.tsx'), 'EventsPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    login,
    platform.addChildren([platformHome, servers, tenants, tenantPage]),
    tenant.addChildren([
      overview,
      deployments,
      jobs,
      job,
      volumes,
      volume,
      networks,
      backups,
      backup,
      nodes,
      join,
      node,
      residency,
      timeline,
      access,
      secrets,
      newSecret,
      secret,
      newDeployment,
      deployment.addChildren([
        deploymentHome,
        why,
        replicas,
        logs,
        terminal,
        history,
        rotation,
        events,
        scaling,
        settings,
        change,
      ]),
    ]),
  ]),
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
