// The dependencies of the deployment operations.

import type { ResidencyRules } from '@holdfast/contract'
import type { AdmissionContext, normalise } from '@holdfast/core'
import type { Broker } from '../../ports/broker.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { SecretsWriter } from '../../ports/secrets-store.ts'
import type { ReadUsage } from '../../ports/usage.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import type { SlotAllocator } from '../../quotas/slots.ts'
import type { Store } from '../../store/store.ts'
import type { IdempotentAnswers } from '../idempotency.ts'
import type { PlacementViews } from './read/explain-now.ts'

export interface DeploymentDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly broker: Pick<Broker, 'checkImage'>
  readonly secrets: Pick<SecretsWriter, 'currentVersion' | 'writeVersion' | 'destroyVersion'>
  readonly slots: SlotAllocator
  readonly quotas: Quotas
  readonly answers: IdempotentAnswers
  /** The platform's settings for admission, such as limits, reserved names and the allowed registries. */
  readonly admission: Pick<
    AdmissionContext,
    'limits' | 'reservedNames' | 'registries' | 'volumesEnabled' | 'namespaces' | 'regions'
  >
  readonly residency: ResidencyRules
  /** The kept scheduling views that explanations use. */
  readonly views: PlacementViews
  readonly archiveRevisions: number
  readonly readUsage: ReadUsage
  /**
   * Replaces the step that separates the secret values of a body from the spec. Only a test sets this: with a step that
   * leaves secret values in the spec, the test proves that later guards refuse to store them.
   */
  readonly normalise?: typeof normalise
}
