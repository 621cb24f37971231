// Every endpoint of this process, with what its operations need.

import { RESERVED_NAMES } from '@holdfast/core'
import type { AnyEndpoint } from './api/endpoint.ts'
import { createFailedJoins } from './api/failed-joins.ts'
import { activityEndpoints } from './api/routes/activity.ts'
import { deploymentEndpoints } from './api/routes/deployments.ts'
import { errorEndpoints } from './api/routes/errors.ts'
import { nodeEndpoints } from './api/routes/nodes.ts'
import { registryEndpoints } from './api/routes/registries.ts'
import { tenantEndpoints } from './api/routes/tenants.ts'
import type { Config } from './config/schema.ts'
import type { DeploymentDeps } from './operations/deployments/deps.ts'
import { createIdempotentAnswers } from './operations/idempotency.ts'
import type { CallNode } from './operations/nodes/deps.ts'
import type { Quotas } from './operations/quotas.ts'
import type { Broker } from './ports/broker.ts'
import type { SecretsWriter } from './ports/secrets-store.ts'
import { realClock as clock, realIds as ids } from './real-world.ts'
import type { SlotAllocator } from './store/slots.ts'
import type { Store } from './store/store.ts'

export interface EndpointDeps {
  readonly config: Config
  readonly store: Store
  readonly secrets: SecretsWriter
  readonly broker: Broker
  readonly slots: SlotAllocator
  readonly quotas: Quotas
  /** Canonical hosts of the registries' allow-list. */
  readonly allowed: ReadonlySet<string>
  readonly callNode: CallNode
}

export function composeEndpoints(deps: EndpointDeps): AnyEndpoint[] {
  const { config, store, secrets, broker, slots, quotas, allowed, callNode } = deps
  const answers = createIdempotentAnswers(store, clock)
  const deployments: DeploymentDeps = {
    ...{ store, clock, ids, broker, slots, quotas, answers },
    admission: {
      limits: config.limits,
      reservedNames: new Set([...RESERVED_NAMES, ...config.reservedNames]),
      registries: allowed,
      volumesEnabled: config.volumes.enabled,
    },
    archiveRevisions: config.retention.archiveRevisions,
  }
  return [
    ...deploymentEndpoints(deployments),
    ...activityEndpoints(store),
    ...tenantEndpoints({ store, clock, ids, secrets, answers, quotas }),
    ...registryEndpoints({ store, clock, secrets, allowed }),
    ...nodeEndpoints({
      ...{ store, clock, ids, slots, quotas, answers, callNode },
      publicUrl: config.publicUrl,
      failedJoins: createFailedJoins(config.rates.failedJoinsPerMinute, clock),
    }),
    ...errorEndpoints(),
  ]
}
