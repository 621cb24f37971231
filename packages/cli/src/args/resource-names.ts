// The words that `get` takes, known without loading what they stand for.

import type { LiveNames } from '../command.ts'

export const RESOURCE_NAMES = [
  ...['deployments', 'deployment', 'dep', 'nodes', 'node', 'routes', 'route', 'events', 'event'],
  ...['registries', 'registry', 'regions', 'region', 'quotas', 'quota', 'audit', 'tenants', 'tenant'],
] as const

/** Of which kinds completion can look names up. */
export const LIVE_KINDS: { readonly [typed: string]: LiveNames } = {
  ...{ deployments: 'deployments', deployment: 'deployments', dep: 'deployments' },
  ...{ nodes: 'nodes', node: 'nodes', registries: 'registries', registry: 'registries' },
}
