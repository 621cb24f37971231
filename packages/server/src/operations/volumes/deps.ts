// The dependencies of the volume operations.

import type { ResidencyRules } from '@holdfast/contract'
import type { Limits } from '@holdfast/core'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { SlotDeps } from '../../quotas/hold-slot.ts'
import type { Store } from '../../store/store.ts'
import type { IdempotentAnswers } from '../idempotency.ts'
import type { Measurements } from './measure-volumes.ts'
import type { PromotionPort } from './promotion/promotion-port.ts'

export interface VolumeDeps extends SlotDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly answers: IdempotentAnswers
  readonly limits: Limits
  readonly residency: ResidencyRules
  readonly measurements: Measurements
  readonly promotions: PromotionPort
}
