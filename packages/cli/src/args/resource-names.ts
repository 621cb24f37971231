// The words for resources that `get` accepts. Help and completion use this list, because resource modules load slowly.

import type { LiveNames } from '../command.ts'

export const RESOURCE_NAMES = [
  'deployments',
  'deployment',
  'dep',
  'nodes',
  'node',
  'routes',
  'route',
  'events',
  'event',
  'registries',
  'registry',
  'regions',
  'region',
  'quotas',
  'quota',
  'audit',
  'tenants',
  'tenant',
] as const

/** The resource kinds for which completion can request the existing names from the platform. */
export const LIVE_KINDS: { readonly [typed: string]: LiveNames } = {
  deployments: 'deployments',
  deployment: 'deployments',
  dep: 'deployments',
  nodes: 'nodes',
  node: 'nodes',
  registries: 'registries',
  registry: 'registries',
}
