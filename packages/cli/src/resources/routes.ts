import { readAll } from '@holdfast/client'
import type { Route } from '@holdfast/contract'
import type { Resource } from './resource.ts'

interface ListedRoute extends Route {
  readonly deployment: string
  readonly phase: string
  readonly ready: number
}

export const routes: Resource<ListedRoute> = {
  names: ['routes', 'route'],
  kind: 'route',
  nameOf: ({ host, path }) => `${host}${path}`,
  async list(client) {
    const listed = await readAll((page) => client.deployments.list(page))
    if (!listed.ok) return listed
    const value = listed.value.flatMap(({ name, routes: own = [], status }) =>
      own.map((route) => ({ ...route, deployment: name, phase: status.phase, ready: status.replicas.ready })),
    )
    return { ok: true, value }
  },
  columns: [
    { header: 'HOST', value: ({ host }) => host },
    { header: 'PATH', value: ({ path }) => path },
    { header: 'PORT', value: ({ port }) => String(port) },
    { header: 'DEPLOYMENT', value: ({ deployment }) => deployment },
    { header: 'PHASE', drop: 2, value: ({ phase }) => phase },
    { header: 'READY', drop: 1, value: ({ ready }) => String(ready) },
  ],
}
