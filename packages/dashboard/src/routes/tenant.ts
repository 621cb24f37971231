// The pages of a tenant, without those of one deployment. Only the overview, where most visits begin, is part of the first
// load.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { createBrowserClient } from '../api/session.tsx'
import { latestEventsQuery, overviewQuery } from '../api/use-overview.ts'
import type { TimelineFilter } from '../api/use-timeline.ts'
import { OverviewPage } from '../features/overview/overview-page.tsx'
import { tenant } from './frames.ts'
import { given, text } from './search.ts'

const overview = createRoute({
  getParentRoute: () => tenant,
  path: '/',
  // Not awaited: the reads and the code of the page arrive in any order.
  loader({ context: { queries }, params: { tenant } }) {
    const session = { tenant, client: createBrowserClient(tenant) }
    void queries.prefetchQuery(overviewQuery(session))
    void queries.prefetchQuery(latestEventsQuery(session))
  },
  component: OverviewPage,
})

const deployments = createRoute({
  getParentRoute: () => tenant,
  path: 'deployments',
  validateSearch: ({ q, phase }: { q?: unknown; phase?: unknown }) =>
    given({ q: text(q), phase: text(phase) }),
  component: lazyRouteComponent(
    () => import('../features/deployments/deployments-page.tsx'),
    'DeploymentsPage',
  ),
})

const newDeployment = createRoute({
  getParentRoute: () => tenant,
  path: 'deployments/new',
  component: lazyRouteComponent(() => import('../features/editor/new-page.tsx'), 'NewPage'),
})

const jobs = createRoute({
  getParentRoute: () => tenant,
  path: 'jobs',
  validateSearch: ({ q, phase }: { q?: unknown; phase?: unknown }) =>
    given({ q: text(q), phase: text(phase) }),
  component: lazyRouteComponent(() => import('../features/jobs/jobs-page.tsx'), 'JobsPage'),
})

const job = createRoute({
  getParentRoute: () => tenant,
  path: 'jobs/$job',
  component: lazyRouteComponent(() => import('../features/job/job-page.tsx'), 'JobPage'),
})

const volumes = createRoute({
  getParentRoute: () => tenant,
  path: 'volumes',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('../features/volumes/volumes-page.tsx'), 'VolumesPage'),
})

const volume = createRoute({
  getParentRoute: () => tenant,
  path: 'volumes/$volume',
  component: lazyRouteComponent(() => import('../features/volume/volume-page.tsx'), 'VolumePage'),
})

const networks = createRoute({
  getParentRoute: () => tenant,
  path: 'networks',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('../features/networks/networks-page.tsx'), 'NetworksPage'),
})

const backups = createRoute({
  getParentRoute: () => tenant,
  path: 'backups',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('../features/backups/backups-page.tsx'), 'BackupsPage'),
})

const backup = createRoute({
  getParentRoute: () => tenant,
  path: 'backups/$backup',
  component: lazyRouteComponent(() => import('../features/backup/backup-page.tsx'), 'BackupPage'),
})

const nodes = createRoute({
  getParentRoute: () => tenant,
  path: 'nodes',
  component: lazyRouteComponent(() => import('../features/nodes/nodes-page.tsx'), 'NodesPage'),
})

const join = createRoute({
  getParentRoute: () => tenant,
  path: 'nodes/join',
  component: lazyRouteComponent(() => import('../features/join/join-page.tsx'), 'JoinPage'),
})

const node = createRoute({
  getParentRoute: () => tenant,
  path: 'nodes/$node',
  component: lazyRouteComponent(() => import('../features/node/node-page.tsx'), 'NodePage'),
})

const residency = createRoute({
  getParentRoute: () => tenant,
  path: 'residency',
  validateSearch: ({ q }: { q?: unknown }) => given({ q: text(q) }),
  component: lazyRouteComponent(() => import('../features/residency/residency-page.tsx'), 'ResidencyPage'),
})

const timeline = createRoute({
  getParentRoute: () => tenant,
  path: 'events',
  validateSearch: (search: { subject?: unknown; until?: unknown; reads?: unknown }): TimelineFilter => ({
    ...given({ subject: text(search.subject), until: text(search.until) }),
    ...(search.reads === true ? { reads: true } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/timeline/timeline-page.tsx'), 'TimelinePage'),
})

const access = createRoute({
  getParentRoute: () => tenant,
  path: 'access',
  component: lazyRouteComponent(() => import('../features/access/access-page.tsx'), 'AccessPage'),
})

const secrets = createRoute({
  getParentRoute: () => tenant,
  path: 'secrets',
  component: lazyRouteComponent(() => import('../features/secrets/secrets-page.tsx'), 'SecretsPage'),
})

const newSecret = createRoute({
  getParentRoute: () => tenant,
  path: 'secrets/new',
  validateSearch: ({ path }: { path?: unknown }) => given({ path: text(path) }),
  component: lazyRouteComponent(() => import('../features/secret/new-secret-page.tsx'), 'NewSecretPage'),
})

const secret = createRoute({
  getParentRoute: () => tenant,
  path: 'secrets/$namespace/$resource',
  component: lazyRouteComponent(() => import('../features/secret/secret-page.tsx'), 'SecretPage'),
})

export const tenantPages = [
  overview,
  deployments,
  newDeployment,
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
] as const
