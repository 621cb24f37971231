// Resolves the digests of images whose registry did not answer at admission. The registry is asked until it answers, and
// all replicas of the deployment, or all attempts of the job, then use that digest. The spec stays unchanged; only the
// digest is stored. See docs/design/admission.md#image-checks

import { isFinalPhase, isJobId, type TenantId } from '@holdfast/contract'
import { parseImageReference } from '@holdfast/core'
import { type NewEvent, recordEventOnce } from '../operations/record-write.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'
import {
  deployments,
  jobs,
  registryCredentials,
  type StoredDeployment,
  type StoredJob,
  tenants,
} from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { type Address, inTenant } from '../store/transaction.ts'
import type { Leadership } from './leadership/lead-shards.ts'
import { repeat } from './repeat.ts'

export interface DigestDeps {
  readonly store: Store
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced'>
  readonly broker: Pick<Broker, 'checkImage'>
  random(): number
  onError(error: unknown, image: string): void
}

export interface DigestTimes {
  /** The minimum time between two requests for one image; the time grows after each failure. */
  readonly retryMs: number
  readonly checkMs: number
}

export const DIGEST_TIMES: DigestTimes = { retryMs: 30_000, checkMs: 1_000 }

/** Limit of concurrent registry requests. A tenant has at most one, so that a slow registry delays no other tenant. */
const AT_ONCE = 4
const MAX_BACKOFF_FACTOR = 4

interface Pending {
  readonly tenant: TenantId
  readonly image: string
  /** Names of the deployments that use the image. */
  readonly names: Set<string>
  nextAt: number
  failures: number
  /** Names of the deployments that already have an event about the missing image. */
  readonly reportedMissing: Set<string>
}

interface DigestState {
  readonly deps: DigestDeps
  readonly times: DigestTimes
  /** The images whose digests must be resolved, by tenant and image. */
  readonly pending: Map<string, Pending>
  /** For each tenant and deployment, the key in `pending` of the image that the deployment waits for. */
  readonly filed: Map<string, string>
  readonly running: Map<TenantId, Promise<void>>
  /** Time of each tenant's last registry request; the tenant whose last request is oldest is served next. */
  readonly turns: Map<TenantId, number>
}

export function startDigestFixing(deps: DigestDeps, times = DIGEST_TIMES): { stop(): Promise<void> } {
  const { store, onError } = deps
  const state: DigestState = {
    deps,
    times,
    pending: new Map(),
    filed: new Map(),
    running: new Map(),
    turns: new Map(),
  }
  for (const { record: tenant } of store.list(tenants))
    for (const collection of [deployments, jobs])
      for (const { id } of store.keysOf(collection, tenant.id)) file(state, tenant.id, id)
  const unwatch = store.subscribe((changes) => {
    for (const { tenant, folder, id } of changes.map(({ key }) => key))
      if (tenant !== undefined && (folder === deployments.folder || folder === jobs.folder))
        file(state, tenant, id)
  })
  const checking = repeat(
    times.checkMs,
    async () => {
      for (const one of choose(state)) start(state, one)
    },
    (error) => onError(error, ''),
  )
  return {
    async stop() {
      unwatch()
      await checking.stop()
      await Promise.all(state.running.values())
    },
  }
}

/** Files a deployment under the image whose digest it lacks, and removes it from the image that it lacked before. */
function file({ deps, times, pending, filed }: DigestState, tenant: TenantId, name: string): void {
  const stored = deps.store.get(addressOf(tenant, name))?.record
  const image = stored !== undefined && isUnfixed(stored) ? stored.spec.image : undefined
  const key = image === undefined ? undefined : `${tenant} ${image}`
  const at = `${tenant} ${name}`
  const before = filed.get(at)
  if (before === key) return
  const left = before === undefined ? undefined : pending.get(before)
  left?.names.delete(name)
  if (before !== undefined && left?.names.size === 0) pending.delete(before)
  filed.delete(at)
  if (image === undefined || key === undefined) return
  filed.set(at, key)
  const known = pending.get(key)
  known?.names.add(name)
  if (known !== undefined) return
  // The first request is delayed, because admission has just asked the registry.
  const nextAt = performance.now() + backoffMs(times, 0, deps.random)
  pending.set(key, { tenant, image, names: new Set([name]), nextAt, failures: 0, reportedMissing: new Set() })
}

/** The workload that lacks a digest, by the name of a deployment or the id of a job: no name has an underscore. */
const addressOf = (tenant: TenantId, name: string): Address<StoredDeployment | StoredJob> =>
  isJobId(name) ? inTenant(tenant, jobs, name) : inTenant(tenant, deployments, name)

const isUnfixed = (stored: StoredDeployment | StoredJob): boolean =>
  stored.digest === null && ('deleting' in stored ? !stored.deleting : !isFinalPhase(stored.phase))

const backoffMs = ({ retryMs }: DigestTimes, failures: number, random: () => number): number =>
  retryMs * Math.min(2 ** failures, MAX_BACKOFF_FACTOR) * (1 + random() / 2)

/** Chooses the next images to ask for: one for each tenant without a running request, up to the concurrency limit. */
function choose({ deps: { leadership }, pending, running, turns }: DigestState): Pending[] {
  const now = performance.now()
  const due = new Map<TenantId, Pending>()
  for (const one of pending.values()) {
    if (one.nextAt > now || running.has(one.tenant) || !leadership.owns(one.tenant)) continue
    if (one.nextAt < (due.get(one.tenant)?.nextAt ?? Number.POSITIVE_INFINITY)) due.set(one.tenant, one)
  }
  const lastTurn = ({ tenant }: Pending) => turns.get(tenant) ?? 0
  const inOrder = [...due.values()].sort((left, right) => lastTurn(left) - lastTurn(right))
  return inOrder.slice(0, Math.max(0, AT_ONCE - running.size))
}

function start({ deps, times, running, turns }: DigestState, one: Pending): void {
  turns.set(one.tenant, performance.now())
  const done = resolveDigest(deps, times, one)
    .catch((error: unknown) => deps.onError(error, one.image))
    .finally(() => running.delete(one.tenant))
  running.set(one.tenant, done)
}

async function resolveDigest(deps: DigestDeps, times: DigestTimes, one: Pending): Promise<void> {
  const { store, broker, random } = deps
  const { tenant, image } = one
  one.failures += 1
  one.nextAt = performance.now() + backoffMs(times, one.failures, random)
  const host = parseImageReference(image)?.host ?? ''
  const credential = store.get(inTenant(tenant, registryCredentials, host))
  const answer = await broker.checkImage(tenant, image, credential?.record.version)
  if (answer.kind === 'exists') await recordAll(deps, one, one.names, answer.digest)
  if (answer.kind !== 'absent') return
  const unreported = [...one.names].filter((name) => !one.reportedMissing.has(name))
  await recordAll(deps, one, unreported, null)
  for (const name of unreported) one.reportedMissing.add(name)
}

/** Stores the digest, in one transaction per deployment, because a deployment may use another image by now. */
async function recordAll(
  deps: DigestDeps,
  { tenant, image }: Pending,
  names: Iterable<string>,
  digest: string | null,
): Promise<void> {
  await Promise.all([...names].map((name) => recordDigest(deps, tenant, name, image, digest)))
}

async function recordDigest(
  { leadership, clock }: DigestDeps,
  tenant: TenantId,
  name: string,
  image: string,
  digest: string | null,
): Promise<void> {
  await leadership.fenced<void>(tenant, (transaction) => {
    const address = addressOf(tenant, name)
    const stored = transaction.get(address)
    if (stored === undefined || !isUnfixed(stored) || stored.spec.image !== image)
      return { kind: 'abort', result: undefined }
    if (digest !== null) transaction.put(address, withDigest(stored, digest))
    // A new owner of the shard finds the same image missing, which is no new event.
    const isNew = recordEventOnce(transaction, clock, tenant, eventOf(stored, digest))
    return { kind: isNew || digest !== null ? 'commit' : 'abort', result: undefined }
  })
}

/** The revision of a job counts every change of its record; that of a deployment counts its specs. */
const withDigest = (stored: StoredDeployment | StoredJob, digest: string): StoredDeployment | StoredJob =>
  'uid' in stored ? { ...stored, digest } : { ...stored, digest, revision: stored.revision + 1 }

/** A job never changes its image. */
const REMEDIES = {
  Deployment: 'waits until it is pushed or the deployment uses another image.',
  Job: 'waits until it is pushed, and fails if that takes too long. Cancel it if the image is wrong.',
} as const

function eventOf(stored: StoredDeployment | StoredJob, digest: string | null): NewEvent {
  const { name, image } = stored.spec
  const kind = 'uid' in stored ? 'Deployment' : 'Job'
  const subject = { kind, name, uid: 'uid' in stored ? stored.uid : stored.id }
  const word = kind.toLowerCase()
  // A deployment may return to an image that it used before; each revision has events of its own.
  const about = 'uid' in stored ? `${image} ${stored.revision}` : image
  return digest === null
    ? {
        type: 'image.digest_missing',
        severity: 'warning',
        subject,
        cause: about,
        reason: 'not_found',
        message: `The registry has no image ${image}. ${kind} ${name} ${REMEDIES[kind]}`,
        data: { image },
      }
    : {
        type: 'image.digest_fixed',
        severity: 'info',
        subject,
        cause: `${about} ${digest}`,
        reason: 'resolved',
        message: `The registry resolved ${image} to ${digest} for ${word} ${name}.`,
        data: { image, digest },
      }
}
