// The words that `get` takes, known without loading what they stand for.

export const RESOURCE_NAMES = [
  ...['deployments', 'deployment', 'dep', 'nodes', 'node', 'routes', 'route', 'events', 'event'],
  ...['registries', 'registry', 'regions', 'region', 'quotas', 'quota', 'audit', 'tenants', 'tenant'],
] as const
