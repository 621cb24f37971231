// /scheduler: what deployments may ask of where they are placed. DECISIONS 1.

import { regionsShape } from '@holdfast/contract'
import type { CallOptions, Calls } from '../calls.ts'

export function schedulerCalls({ get }: Calls) {
  return {
    regions: (options?: CallOptions) => get('/scheduler/regions', regionsShape, {}, options),
  }
}
