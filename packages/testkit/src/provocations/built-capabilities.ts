// The implemented parts of the product. Error codes of a part that is not listed are for the future. Once a part is
// listed, each of its codes must be returned over HTTP (tests/real/api/catalogue.test.ts).

import type { Capability } from '@holdfast/contract'

export const BUILT: readonly Capability[] = [
  'http',
  'tenancy',
  'deployments',
  'placement',
  'nodes',
  'routes',
  'secrets',
  'volumes',
  'recommendations',
  'backups',
  'networks',
  'jobs',
  'scaling',
  'rollouts',
]
