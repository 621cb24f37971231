// The pages of a tenant, in the order of the navigation. A new page needs a row here and a route in src/routes.

import { texts } from '../texts/en.ts'

export const PAGES = [
  { to: '/t/$tenant', label: texts.pages.overview, exact: true },
  { to: '/t/$tenant/deployments', label: texts.pages.deployments, exact: false },
  { to: '/t/$tenant/jobs', label: texts.pages.jobs, exact: false },
  { to: '/t/$tenant/volumes', label: texts.pages.volumes, exact: false },
  { to: '/t/$tenant/networks', label: texts.pages.networks, exact: false },
  { to: '/t/$tenant/secrets', label: texts.secrets.page, exact: false },
  { to: '/t/$tenant/backups', label: texts.pages.backups, exact: false },
  { to: '/t/$tenant/nodes', label: texts.pages.nodes, exact: false },
  { to: '/t/$tenant/residency', label: texts.pages.residency, exact: false },
  { to: '/t/$tenant/events', label: texts.pages.events, exact: false },
  { to: '/t/$tenant/access', label: texts.pages.access, exact: false },
] as const

/** The pages of the whole platform, for its administrators. */
export const PLATFORM_PAGES = [
  { to: '/platform', label: texts.platform.page, exact: true },
  { to: '/platform/tenants', label: texts.platform.tenants, exact: false },
  { to: '/platform/servers', label: texts.platform.servers, exact: false },
] as const

/** The pages on which something is created, with the permission that each needs. */
export const CREATIONS = [
  { to: '/t/$tenant/deployments/new', label: texts.editor.new, needs: 'deployments:write' },
  { to: '/t/$tenant/secrets/new', label: texts.secrets.write, needs: 'secrets:write' },
  { to: '/t/$tenant/nodes/join', label: texts.join.page, needs: 'join-tokens:write' },
] as const
