// The words for resources that `get` accepts. Help and completion use this list, because resource modules load slowly.

import type { LiveNames } from '../command.ts'

export const RESOURCE_NAMES = [
  'deployments',
  'deployment',
  'dep',
  'deploy',
  'nodes',
  'node',
  'no',
  'replicas',
  'replica',
  'containers',
  'container',
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
  'volumes',
  'volume',
  'vol',
  'backups',
  'backup',
  'networks',
  'network',
  'net',
  'jobs',
  'job',
  'residency',
] as const

/** Kinds that a command of their own lists, and that `get` accepts too. */
export const LISTED_BY_COMMAND = ['secrets', 'secret', 'tokens', 'token'] as const

export const DEPLOYMENT_KINDS: readonly string[] = ['deployments', 'deployment', 'dep', 'deploy']
export const NODE_KINDS: readonly string[] = ['nodes', 'node', 'no']
export const VOLUME_KINDS: readonly string[] = ['volumes', 'volume', 'vol']
export const NETWORK_KINDS: readonly string[] = ['networks', 'network', 'net']
export const JOB_KINDS: readonly string[] = ['jobs', 'job']

/** The resource kinds for which completion can request the existing names from the platform. */
export const LIVE_KINDS: { readonly [typed: string]: LiveNames } = {
  ...Object.fromEntries(DEPLOYMENT_KINDS.map((kind) => [kind, 'deployments' as const])),
  ...Object.fromEntries(NODE_KINDS.map((kind) => [kind, 'nodes' as const])),
  ...Object.fromEntries(VOLUME_KINDS.map((kind) => [kind, 'volumes' as const])),
  backups: 'backups',
  backup: 'backups',
  ...Object.fromEntries(NETWORK_KINDS.map((kind) => [kind, 'networks' as const])),
  ...Object.fromEntries(JOB_KINDS.map((kind) => [kind, 'jobs' as const])),
  registries: 'registries',
  registry: 'registries',
}
