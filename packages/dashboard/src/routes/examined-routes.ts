// The routes whose pages each test file examines for accessibility and width. Each route is in exactly one file, in which its
// page has data; a test beside the router compares them with its routes.

export const examinedRoutes = {
  dashboard: [
    '/login',
    '/t/$tenant',
    '/t/$tenant/deployments',
    '/t/$tenant/events',
    '/t/$tenant/deployments/$name/logs',
    '/t/$tenant/deployments/$name/terminal',
    '/t/$tenant/deployments/$name/events',
  ],
  editor: [
    '/t/$tenant/nodes',
    '/t/$tenant/deployments/new',
    '/t/$tenant/deployments/$name/why',
    '/t/$tenant/deployments/$name/settings',
    '/t/$tenant/deployments/$name/scaling',
    '/t/$tenant/deployments/$name/history',
    '/t/$tenant/deployments/$name/change?act=delete',
    '/t/$tenant/deployments/$name/change?act=scale&replicas=5',
  ],
  operations: [
    '/platform',
    '/platform/servers',
    '/platform/tenants',
    '/platform/tenants/$id',
    '/t/$tenant/secrets',
    '/t/$tenant/secrets/new',
    '/t/$tenant/secrets/$namespace/$resource',
    '/t/$tenant/nodes/join',
    '/t/$tenant/nodes/$node',
    '/t/$tenant/deployments/$name/replicas',
    '/t/$tenant/deployments/$name/rotation',
  ],
  resources: [
    '/t/$tenant/jobs',
    '/t/$tenant/jobs/$job',
    '/t/$tenant/volumes',
    '/t/$tenant/volumes/$volume',
    '/t/$tenant/networks',
    '/t/$tenant/backups',
    '/t/$tenant/backups/$backup',
    '/t/$tenant/residency',
    '/t/$tenant/access',
  ],
} as const

/** Routes without a page of their own, and the route that they lead to. */
export const redirectingRoutes = {
  '/': '/t/$tenant',
  '/t/$tenant/deployments/$name': '/t/$tenant/deployments/$name/why',
} as const

/** The address of a route; a parameter that is not given is an error. */
export function addressOf(route: string, values: { readonly [parameter: string]: string }): string {
  const path = route.replace(/\$(\w+)/g, (_, parameter: string) => {
    const value = values[parameter]
    if (value === undefined) throw new Error(`the route ${route} needs a value of ${parameter}`)
    return value
  })
  return `/ui${path}`
}
