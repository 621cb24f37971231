// Which parts of the product are built. The codes of the others are owned by a part that is to come; the part that comes
// adds its line here, and from then on each of its codes must be received over HTTP (tests/real/api/catalogue.test.ts).

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
