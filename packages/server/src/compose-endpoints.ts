// Builds all endpoints of this process and passes to each the dependencies of its operations.

import { RESERVED_NAMES } from '@holdfast/core'
import { withDryRuns } from './api/dry-runs.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import { createFailedAttempts, type FailedAttempts } from './api/request/failed-attempts.ts'
import { activityEndpoints } from './api/routes/activity.ts'
import { archiveEndpoints } from './api/routes/archives.ts'
import { deploymentEndpoints } from './api/routes/deployments.ts'
import { errorEndpoints } from './api/routes/errors.ts'
import { execEndpoints } from './api/routes/exec.ts'
import { logEndpoints } from './api/routes/logs.ts'
import { nodeEndpoints } from './api/routes/nodes.ts'
import { registryEndpoints } from './api/routes/registries.ts'
import { rotationEndpoints } from './api/routes/rotation.ts'
import { schedulerEndpoints } from './api/routes/scheduler.ts'
import { secretEndpoints } from './api/routes/secrets.ts'
import { tenantEndpoints } from './api/routes/tenants.ts'
import type { Config } from './config/schema.ts'
import { readServerTls } from './connect-engines.ts'
import { createPlanner } from './loops/controllers/planning/plan-ahead.ts'
import type { DeploymentDeps } from './operations/deployments/deps.ts'
import { createIdempotentAnswers } from './operations/idempotency.ts'
import type { CallNode } from './operations/nodes/deps.ts'
import { caPinOf } from './operations/nodes/join-token.ts'
import type { Broker } from './ports/broker.ts'
import type { OpenNodeStream } from './ports/node-streams.ts'
import type { SecretsWriter } from './ports/secrets-store.ts'
import type { Quotas } from './quotas/quotas.ts'
import type { SlotAllocator } from './quotas/slots.ts'
import type { Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface EndpointDeps {
  readonly config: Config
  readonly store: Store
  readonly secrets: SecretsWriter
  readonly broker: Broker
  readonly slots: SlotAllocator
  readonly quotas: Quotas
  /** Canonical `host:port` of each allowed registry. */
  readonly allowed: ReadonlySet<string>
  readonly callNode: CallNode
  readonly openStream: OpenNodeStream
  readonly failedTickets: FailedAttempts
}

export function composeEndpoints(deps: EndpointDeps): AnyEndpoint[] {
  const { config, store, secrets, broker, slots, quotas, allowed, callNode, openStream } = deps
  const answers = createIdempotentAnswers(store, clock)
  const deployments: DeploymentDeps = {
    store,
    clock,
    ids,
    broker,
    secrets,
    slots,
    quotas,
    answers,
    admission: {
      limits: config.limits,
      reservedNames: new Set([...RESERVED_NAMES, ...config.reservedNames]),
      registries: allowed,
      volumesEnabled: config.volumes.enabled,
      regions: new Set(Object.keys(config.residency.regions)),
      namespaces: config.secrets.namespaces,
    },
    residency: config.residency,
    planAhead: createPlanner({ store, quotas, clock, residency: config.residency }),
    archiveRevisions: config.retention.archiveRevisions,
  }
  const material = { limits: config.limits, namespaces: config.secrets.namespaces }
  const idle = { secrets: idleSecrets(secrets) }
  return [
    ...withDryRuns(deploymentEndpoints, deployments),
    ...logEndpoints({ store, clock, openStream }),
    ...execEndpoints({ store, clock, ids }, deps.failedTickets),
    ...archiveEndpoints(store),
    ...activityEndpoints(store),
    ...withDryRuns(tenantEndpoints, { store, clock, ids, secrets, answers, quotas }, idle),
    ...withDryRuns(registryEndpoints, { store, clock, secrets, allowed }, idle),
    ...withDryRuns(secretEndpoints, { ...material, store, clock, ids, secrets, slots, quotas }, idle),
    ...rotationEndpoints({
      ...material,
      store,
      clock,
      ids,
      secrets,
      slots,
      quotas,
      answers,
      archiveRevisions: config.retention.archiveRevisions,
    }),
    ...withDryRuns(nodeEndpoints, {
      store,
      clock,
      ids,
      slots,
      quotas,
      answers,
      callNode,
      publicUrl: config.publicUrl,
      ...shownCaPin(config),
      failedJoins: createFailedAttempts(config.rates.failedJoinsPerMinute, clock),
    }),
    ...schedulerEndpoints(config.residency),
    ...errorEndpoints(),
  ]
}

/** The secrets store of a dry run: reads are answered by the real store; writes and deletions have no effect. */
function idleSecrets(secrets: SecretsWriter): SecretsWriter {
  const nothingDone = async () => ({ kind: 'ok' as const })
  return {
    ...secrets,
    provisionTenant: nothingDone,
    removeTenant: nothingDone,
    destroyVersion: nothingDone,
    deleteAll: nothingDone,
    writeVersion: async (_tenant, _path, _document, cas) => ({ kind: 'ok', version: cas + 1 }),
  }
}

/** The certificate pin for agents, which connect to the public address; absent for plain HTTP, without a certificate. */
function shownCaPin(config: Config): { caPin?: string } {
  const shown = config.publicUrl.startsWith('https:') ? readServerTls(config)?.cert : undefined
  return shown === undefined ? {} : { caPin: caPinOf(shown) }
}
