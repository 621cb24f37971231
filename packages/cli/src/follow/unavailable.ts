// Which failures does a wait outlast?

import type { Failure } from '@holdfast/client'

/** True for temporary failures. The wait continues, because an acknowledged write survives a restart of the control plane. */
export const isUnavailable = (failure: Failure): boolean =>
  failure.kind === 'unreachable' || (failure.kind === 'rejected' && failure.status === 503)
