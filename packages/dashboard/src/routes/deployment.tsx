// The pages of one deployment.

import { createRoute, lazyRouteComponent, Navigate } from '@tanstack/react-router'
import { readChange } from '../api/plan/read-change.ts'
import type { LogFilter } from '../api/use-logs.ts'
import { tenant } from './frames.ts'
import { given, text } from './search.ts'

const deployment = createRoute({
  getParentRoute: () => tenant,
  path: 'deployments/$name',
  // The shown time is kept while a person goes from page to page.
  validateSearch: ({ at }: { at?: unknown }) => given({ at: text(at) }),
  component: lazyRouteComponent(
    () => import('../features/deployment/deployment-frame.tsx'),
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
  component: lazyRouteComponent(() => import('../features/deployment/why-page.tsx'), 'WhyPage'),
})

const replicas = createRoute({
  getParentRoute: () => deployment,
  path: 'replicas',
  component: lazyRouteComponent(() => import('../features/deployment/replicas-page.tsx'), 'ReplicasPage'),
})

const logs = createRoute({
  getParentRoute: () => deployment,
  path: 'logs',
  validateSearch: ({ replica, previous }: { replica?: unknown; previous?: unknown }): LogFilter => ({
    ...(typeof replica === 'number' && replica > 0 ? { replica } : {}),
    ...(previous === true ? { previous } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/logs/logs-page.tsx'), 'LogsPage'),
})

const terminal = createRoute({
  getParentRoute: () => deployment,
  path: 'terminal',
  validateSearch: ({ replica }: { replica?: unknown }): { replica?: number } =>
    typeof replica === 'number' && replica > 0 ? { replica } : {},
  component: lazyRouteComponent(() => import('../features/terminal/terminal-page.tsx'), 'TerminalPage'),
})

const history = createRoute({
  getParentRoute: () => deployment,
  path: 'history',
  validateSearch: ({ from, to }: { from?: unknown; to?: unknown }): { from?: number; to?: number } => ({
    ...(typeof from === 'number' && from > 0 ? { from } : {}),
    ...(typeof to === 'number' && to > 0 ? { to } : {}),
  }),
  component: lazyRouteComponent(() => import('../features/history/history-page.tsx'), 'HistoryPage'),
})

const rotation = createRoute({
  getParentRoute: () => deployment,
  path: 'rotation',
  component: lazyRouteComponent(() => import('../features/rotation/rotation-page.tsx'), 'RotationPage'),
})

const events = createRoute({
  getParentRoute: () => deployment,
  path: 'events',
  component: lazyRouteComponent(() => import('../features/deployment/events-page.tsx'), 'EventsPage'),
})

const scaling = createRoute({
  getParentRoute: () => deployment,
  path: 'scaling',
  component: lazyRouteComponent(() => import('../features/scaling/scaling-page.tsx'), 'ScalingPage'),
})

const settings = createRoute({
  getParentRoute: () => deployment,
  path: 'settings',
  component: lazyRouteComponent(() => import('../features/editor/settings-page.tsx'), 'SettingsPage'),
})

const change = createRoute({
  getParentRoute: () => deployment,
  path: 'change',
  validateSearch: readChange,
  component: lazyRouteComponent(() => import('../features/change/change-page.tsx'), 'ChangePage'),
})

export const deploymentPages = deployment.addChildren([
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
])
