// The dependencies of the network operations.

import type { AdmissionContext } from '@holdfast/core'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import type { Store } from '../../store/store.ts'
import type { IdempotentAnswers } from '../idempotency.ts'

export interface NetworkDeps extends SlotDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly answers: IdempotentAnswers
  readonly admission: Pick<AdmissionContext, 'limits' | 'reservedNames'>
}
