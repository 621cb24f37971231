// Builds all endpoints of this process and passes to each the dependencies of its operations.

import type { TenantId } from '@holdfast/contract'
import { RESERVED_NAMES } from '@holdfast/core'
import { changeEndpoint } from './api/changes/endpoint.ts'
import { withDryRuns } from './api/dry-runs.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import { tenantViewEndpoints } from './api/overview/endpoints.ts'
import { platformEndpoint } from './api/platform/endpoint.ts'
import { createAuthenticate } from './api/request/authenticate.ts'
import { createFailedAttempts } from './api/request/failed-attempts.ts'
import { activityEndpoints } from './api/routes/activity.ts'
import { archiveEndpoints } from './api/routes/archives.ts'
import { backupEndpoints } from './api/routes/backups.ts'
import { deploymentEndpoints } from './api/routes/deployments.ts'
import { divergenceEndpoints } from './api/routes/divergences.ts'
import { dryRunEndpoint } from './api/routes/dry-run.ts'
import { errorEndpoints } from './api/routes/errors.ts'
import { execEndpoints } from './api/routes/exec.ts'
import { jobEndpoints, jobLogEndpoint } from './api/routes/jobs.ts'
import { logEndpoints } from './api/routes/logs.ts'
import { networkEndpoints } from './api/routes/networks.ts'
import { type NodeEndpointDeps, nodeEndpoints } from './api/routes/nodes.ts'
import { recommendationEndpoints } from './api/routes/recommendations.ts'
import { registryEndpoints } from './api/routes/registries.ts'
import { rotationEndpoints } from './api/routes/rotation.ts'
import { scalingEndpoints } from './api/routes/scaling.ts'
import { schedulerEndpoints } from './api/routes/scheduler.ts'
import { secretEndpoints } from './api/routes/secrets.ts'
import { tenantEndpoints } from './api/routes/tenants.ts'
import { usageEndpoints } from './api/routes/usage.ts'
import { volumeEndpoints } from './api/routes/volumes.ts'
import { type SignInEndpointDeps, signInEndpoints } from './api/sign-in/endpoints.ts'
import type { Config } from './config/schema.ts'
import { createKeyLimit } from './lib/key-limit.ts'
import { createReaderViews } from './loops/controllers/placement/reader-views.ts'
import { createRunDry } from './loops/controllers/planning/run-dry.ts'
import type { CertificatePair } from './net/certificate-chain.ts'
import { rootPinOf } from './net/certificate-chain.ts'
import type { ChangeLog } from './operations/changes/change-log.ts'
import type { DeploymentDeps } from './operations/deployments/deps.ts'
import type { PlacementViews } from './operations/deployments/read/explain-now.ts'
import type { ReadingLog } from './operations/events/reading-log.ts'
import { createIdempotentAnswers } from './operations/idempotency.ts'
import type { CallNode } from './operations/nodes/deps.ts'
import type { HeardDeps } from './operations/nodes/node-load.ts'
import { listTenantSummaries } from './operations/overview/list-tenant-summaries.ts'
import type { OverviewDeps } from './operations/overview/read-overview.ts'
import type { PlatformDeps } from './operations/platform/read-platform.ts'
import { createDrySecrets } from './operations/secrets/dry-secrets.ts'
import { DOWNLOADS_PER_TENANT, type Downloads } from './operations/volumes/divergences/download-divergence.ts'
import {
  type CallMeasure,
  createMeasurements,
  type Measurements,
} from './operations/volumes/measure-volumes.ts'
import { dryPort, type PromotionPort } from './operations/volumes/promotion/promotion-port.ts'
import { recommendationsNow } from './operations/volumes/recommendations.ts'
import type { Broker } from './ports/broker.ts'
import { type DivergenceCalls, dryDivergences } from './ports/divergence-calls.ts'
import type { OpenNodeStream } from './ports/node-streams.ts'
import type { SecretsWriter } from './ports/secrets-store.ts'
import type { ReadUsage } from './ports/usage.ts'
import { createQuotas, type Quotas } from './quotas/quotas.ts'
import { createSlotAllocator, type SlotAllocator } from './quotas/slots.ts'
import type { Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface EndpointDeps {
  readonly config: Config
  readonly store: Store
  readonly secrets: SecretsWriter
  readonly broker: Broker
  readonly slots: SlotAllocator
  readonly quotas: Quotas
  readonly readings: ReadingLog
  /** The fill level of etcd, from 0 to 1, and the alarms of its members. */
  readonly pressure: PlatformDeps['pressure']
  /** Canonical `host:port` of each allowed registry. */
  readonly allowed: ReadonlySet<string>
  readonly callNode: CallNode
  readonly callMeasure: CallMeasure
  readonly promotions: PromotionPort
  readonly divergences: DivergenceCalls
  readonly openStream: OpenNodeStream
  readonly readUsage: ReadUsage
  readonly heardAt: HeardDeps['heardAt']
  /** The certificate that the listener serves now; undefined for plain HTTP. */
  readonly servedCertificate: () => CertificatePair | undefined
  readonly replica: string
  readonly isAlive: PlatformDeps['isAlive']
  readonly hold: PlatformDeps['hold']
  readonly changes: ChangeLog
  /** Whether this server has every change that was acknowledged before the call. */
  isCurrent(): Promise<boolean>
  /** The kept scheduling views that explanations use. */
  readonly views: PlacementViews
  readonly measurements: Measurements
  readonly downloads: Downloads
}

export function composeEndpoints(
  given: Omit<EndpointDeps, 'views' | 'measurements' | 'downloads'>,
): AnyEndpoint[] {
  const { config, store, quotas, openStream } = given
  const measurements = createMeasurements(given.callMeasure, () => performance.now())
  const downloads = createKeyLimit<TenantId>(DOWNLOADS_PER_TENANT)
  const deps: EndpointDeps = { ...given, views: createReaderViews(store, quotas), measurements, downloads }
  const { residency, retention, publicUrl } = config
  const joining = {
    publicUrl,
    caPin: shownCaPin(given),
    failedJoins: createFailedAttempts(config.rates.failedJoinsPerMinute, clock),
  }
  const runDry = createRunDry({
    clock,
    ids,
    residency,
    archiveRevisions: retention.archiveRevisions,
    quotasOn: (overlay) => partsOn(deps, overlay).quotas,
  })
  const logs = { store, clock, openStream, readings: given.readings }
  const placement = { store, quotas, residency, clock }
  return [
    ...withDryRuns(writeEndpoints(deps, joining), {
      placement,
      runDry,
      compose: (overlay) => writeEndpoints({ ...deps, ...partsOn(deps, overlay) }, joining),
    }),
    dryRunEndpoint({
      ...placement,
      publicUrl,
      runDry,
      depsOn: () => {
        const secrets = createDrySecrets(deps.secrets)
        return (overlay) => deploymentDeps({ ...deps, ...partsOn(deps, overlay), secrets })
      },
    }),
    ...logEndpoints(logs),
    jobLogEndpoint(logs),
    ...execEndpoints({ store, clock, ids }),
    ...usageEndpoints({ store, clock, readUsage: given.readUsage }),
    ...archiveEndpoints(store),
    ...activityEndpoints(store, clock),
    ...tenantViewEndpoints({ ...attentionDeps(deps), residency }),
    platformEndpoint({ ...given, clock }),
    changeEndpoint({ store, changes: given.changes, isCurrent: given.isCurrent }),
    ...schedulerEndpoints(residency),
    ...errorEndpoints(),
    ...(config.ui.enabled ? signInEndpoints(signInDeps(deps)) : []),
  ]
}

/** How long a node is silent before it is unreachable, and before it has failed. */
const silenceOf = ({ liveness }: Config): HeardDeps['silence'] => ({
  unreachableMs: liveness.unreachableSeconds * 1000,
  failedMs: liveness.failedSeconds * 1000,
})

function attentionDeps({ config, store, quotas, measurements }: EndpointDeps): OverviewDeps {
  const { unreachableMs, failedMs } = silenceOf(config)
  return {
    store,
    clock,
    quotas,
    failsAfterMs: failedMs - unreachableMs,
    advise: (tenant) =>
      config.volumes.enabled ? recommendationsNow({ store, clock, measurements }, tenant) : [],
  }
}

function signInDeps({ config, store }: EndpointDeps): SignInEndpointDeps {
  const authenticate = createAuthenticate(store, clock)
  return {
    store,
    clock,
    ids,
    failedSignIns: createFailedAttempts(config.rates.failedSignInsPerMinute, clock),
    findCaller: async (text, requestId) => {
      const found = await authenticate({ authorization: `Bearer ${text}` })
      if ('code' in found) return undefined
      const { token, tenant } = found
      const { id, name: tokenName, role } = token
      return { tenant: tenant.id, token: id, tokenName, role, onBehalf: false, requestId }
    },
  }
}

/** The dependencies that a dry run replaces, so that it changes nothing outside the overlay. */
function partsOn({ config, secrets, pressure, promotions, divergences }: EndpointDeps, store: Store) {
  const slots = createSlotAllocator(store, () => 0)
  const quotas = createQuotas(store, slots, config.quotas, () => pressure.ratio, clock)
  return {
    ...{ store, slots, quotas, secrets: createDrySecrets(secrets) },
    ...{ promotions: dryPort(promotions), divergences: dryDivergences(divergences) },
  }
}

function deploymentDeps({
  config,
  store,
  secrets,
  broker,
  slots,
  quotas,
  allowed,
  views,
  readUsage,
}: EndpointDeps): DeploymentDeps {
  return {
    store,
    clock,
    ids,
    broker,
    secrets,
    slots,
    quotas,
    answers: createIdempotentAnswers(store, clock, config.retention.idempotencyHours),
    admission: {
      limits: config.limits,
      reservedNames: new Set([...RESERVED_NAMES, ...config.reservedNames]),
      registries: allowed,
      volumesEnabled: config.volumes.enabled,
      regions: new Set(Object.keys(config.residency.regions)),
      namespaces: config.secrets.namespaces,
    },
    residency: config.residency,
    views,
    archiveRevisions: config.retention.archiveRevisions,
    readUsage,
  }
}

/** All endpoints with a dry run. A dry run creates them again, on an overlay of the store. */
function writeEndpoints(
  deps: EndpointDeps,
  joining: Pick<NodeEndpointDeps, 'publicUrl' | 'caPin' | 'failedJoins'>,
): AnyEndpoint[] {
  const { config, store, secrets, slots, quotas, allowed, callNode } = deps
  const { measurements, promotions, divergences, downloads } = deps
  const deployments = deploymentDeps(deps)
  const { answers, archiveRevisions } = deployments
  const common = { store, clock, ids, secrets, slots, quotas, answers }
  const volumes = { ...common, limits: config.limits, residency: config.residency, measurements, promotions }
  const kept = { store, clock, divergences, downloads }
  const heard = { heardAt: deps.heardAt, silence: silenceOf(config) }
  const material = { limits: config.limits, namespaces: config.secrets.namespaces }
  return [
    ...deploymentEndpoints(deployments),
    ...jobEndpoints(deployments),
    ...scalingEndpoints(deployments),
    ...backupEndpoints(deployments),
    ...tenantEndpoints({
      ...common,
      listTenantSummaries: (query) => listTenantSummaries(attentionDeps(deps), query),
    }),
    ...registryEndpoints({ store, clock, secrets, allowed }),
    ...secretEndpoints({ ...common, ...material }),
    ...rotationEndpoints({ ...common, ...material, archiveRevisions }),
    ...nodeEndpoints({ ...common, ...joining, ...heard, callNode, residency: config.residency }),
    ...networkEndpoints({ ...common, admission: deployments.admission }),
    ...(config.volumes.enabled
      ? [...volumeEndpoints(volumes), ...divergenceEndpoints(kept), ...recommendationEndpoints(volumes)]
      : []),
  ]
}

/** Nodes connect to the public address; with plain HTTP there is nothing to pin. */
function shownCaPin({
  config,
  servedCertificate,
}: Pick<EndpointDeps, 'config' | 'servedCertificate'>): () => string | undefined {
  if (!config.publicUrl.startsWith('https:')) return () => undefined
  return () => {
    const served = servedCertificate()
    return served && rootPinOf(served)
  }
}
