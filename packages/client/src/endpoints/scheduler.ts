// The endpoints /scheduler: the regions that placement may require.

import { regionsShape } from '@holdfast/contract'
import type { CallOptions, Calls } from '../calls.ts'

export function schedulerCalls({ get }: Calls) {
  return {
    regions: (options?: CallOptions) => get('/scheduler/regions', regionsShape, {}, options),
  }
}
