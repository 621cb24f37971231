// The keys of the query cache. Each begins with the tenant, so that no page shows data of another tenant. The second word is
// the resource whose changes make the data old.

import type { ChangedRecord } from '@holdfast/contract'

export type Key = readonly (string | number | undefined | object)[]

export const keys = {
  me: (tenant: string) => [tenant, 'me'] as const,
  tenants: (q: string) => ['', 'tenants', q] as const,
  overview: (tenant: string) => [tenant, 'overview'] as const,
  audit: (tenant: string, filter: object) => [tenant, 'audit', filter] as const,
  events: (tenant: string, filter: object) => [tenant, 'events', filter] as const,
  deploymentList: (tenant: string, filter: object) => [tenant, 'deployments', 'list', filter] as const,
  deployment: (tenant: string, name: string, part: string) =>
    [tenant, 'deployments', 'one', name, part] as const,
  why: (tenant: string, name: string, query: object) => [tenant, 'why', name, query] as const,
  nodes: (tenant: string, part: string) => [tenant, 'nodes', part] as const,
  nodeReplicas: (tenant: string, id: string) => [tenant, 'replicas', id] as const,
  /** The dry run of a change. */
  plan: (tenant: string, ...change: readonly (string | number)[]) => [tenant, 'plan', ...change] as const,
  scaling: (tenant: string, name: string) => [tenant, 'scaling', name] as const,
  records: (tenant: string, resource: string, ...rest: readonly (string | object)[]) =>
    [tenant, resource, ...rest] as const,
  metrics: (tenant: string, of: string, name: string) => [tenant, 'metrics', of, name] as const,
  /** Data of all tenants, which the stream of one tenant does not make old. */
  platform: (...parts: readonly string[]) => ['', 'platform', ...parts] as const,
  secrets: (tenant: string, part: string, name = '') => [tenant, 'secrets', part, name] as const,
}

/** The beginnings of the keys whose data may be old after changes of these records, each once. */
export function keysOfChanges(tenant: string, items: readonly ChangedRecord[]): Key[] {
  const found = new Map<string, Key>()
  for (const item of items) for (const key of keysOf(tenant, item)) found.set(JSON.stringify(key), key)
  return [...found.values()]
}

/** Data that names workloads, nodes or volumes, such as the users of a network, and the dry runs of changes. */
const DEPENDENT = ['networks', 'volumes', 'residency', 'plan']

function keysOf(tenant: string, { resource, name }: ChangedRecord): Key[] {
  switch (resource) {
    case 'deployments':
      return [
        [tenant, 'overview'],
        [tenant, 'deployments', 'list'],
        name === '' ? [tenant, 'deployments', 'one'] : [tenant, 'deployments', 'one', name],
        name === '' ? [tenant, 'why'] : [tenant, 'why', name],
        [tenant, 'replicas'],
        name === '' ? [tenant, 'scaling'] : [tenant, 'scaling', name],
        ...DEPENDENT.map((dependent) => [tenant, dependent]),
        // Which versions of a secret run, and so how far a rotation is.
        [tenant, 'secrets'],
      ]
    case 'nodes':
      // Why a deployment has no node depends on every node.
      return [
        [tenant, 'overview'],
        [tenant, 'nodes'],
        [tenant, 'why'],
        ...DEPENDENT.map((dependent) => [tenant, dependent]),
      ]
    case 'tokens':
      return [
        [tenant, 'tokens'],
        [tenant, 'me'],
      ]
    case 'events':
    case 'audit':
      return [[tenant, resource]]
    default:
      // A plan depends on volumes, networks, secrets, jobs and quotas, too.
      return [
        [tenant, 'overview'],
        [tenant, resource],
        ...DEPENDENT.filter((dependent) => dependent !== resource).map((dependent) => [tenant, dependent]),
      ]
  }
}
