// The implemented parts of the product. Codes of other parts belong to a future one; a new part adds its line here, and from then
// on each of its codes must be returned over HTTP (tests/real/api/catalogue.test.ts).

import type { Capability } from '@holdfast/contract'

export const BUILT: readonly Capability[] = [
  'http',
  'tenancy',
  'deployments',
  'placement',
  'nodes',
  'routes',
  'secrets',
]
