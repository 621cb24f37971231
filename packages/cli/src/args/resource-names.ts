// The words that `get` accepts. They are listed here so that help and completion need not load the resources.

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

/** The kinds whose names completion can look up. */
export const LIVE_KINDS: { readonly [typed: string]: LiveNames } = {
  deployments: 'deployments',
  deployment: 'deployments',
  dep: 'deployments',
  nodes: 'nodes',
  node: 'nodes',
  registries: 'registries',
  registry: 'registries',
}
