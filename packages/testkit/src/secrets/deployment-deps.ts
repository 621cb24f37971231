// Dependencies of one server's deployment operations, on real stores that the test chooses. The registry is not
// contacted.

import { admissionContext } from '@holdfast/core'
import { createReaderViews } from '@holdfast/server/loops/controllers/placement/reader-views'
import type { DeploymentDeps } from '@holdfast/server/operations/deployments/deps'
import { createIdempotentAnswers } from '@holdfast/server/operations/idempotency'
import { createSlotAllocator } from '@holdfast/server/quotas/slots'
import type { Store } from '@holdfast/server/store/store'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'

export function deploymentDeps(store: Store, secrets: DeploymentDeps['secrets']): DeploymentDeps {
  const { mode: _mode, ...admission } = admissionContext({ registries: new Set(['registry.test:443']) })
  const quotas = { limit: () => 1_000_000, list: () => ({ items: [] }) }
  return {
    store,
    secrets,
    clock,
    ids,
    quotas,
    admission,
    archiveRevisions: 50,
    readUsage: async () => ({ nodes: new Map(), unreachable: [] }),
    residency: { enforcement: true, regions: {} },
    views: createReaderViews(store, quotas),
    broker: { checkImage: async () => ({ kind: 'unreachable', cause: 'timeout' }) },
    slots: createSlotAllocator(store, () => 0),
    answers: createIdempotentAnswers(store, clock, 24),
  }
}
