// Images whose registry did not answer when they were admitted: asked again until it does, and the first answer
// counts for every replica. The spec stays as it is; only what its image was found to be is noted.

import type { TenantId } from '@holdfast/contract'
import { parseImageReference } from '@holdfast/core'
import { type NewEvent, recordEvent } from '../operations/record-write.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'
import { deployments, registryCredentials, type StoredDeployment, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'
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
  /** No image is asked for more often; longer after each failure. */
  readonly restMs: number
  readonly lookMs: number
}

export const DIGEST_TIMES: DigestTimes = { restMs: 30_000, lookMs: 1_000 }

/** Registries asked at the same time, one for each tenant at the most: a slow one costs the others nothing. */
const AT_ONCE = 4
const LONGEST_RESTS = 4

interface Pending {
  readonly tenant: TenantId
  readonly image: string
  /** Deployments that want it. */
  readonly names: Set<string>
  nextAt: number
  failures: number
  /** Those of them that were told that the registry does not have it. */
  readonly toldMissing: Set<string>
}

interface Fixing {
  readonly deps: DigestDeps
  readonly times: DigestTimes
  /** By tenant and image. */
  readonly pending: Map<string, Pending>
  /** By tenant and deployment: where in `pending` it is. */
  readonly filed: Map<string, string>
  readonly running: Map<TenantId, Promise<void>>
  /** Who was asked for before whom: the next turn is whose last one is longest ago. */
  readonly turns: Map<TenantId, number>
}

export function startDigestFixing(deps: DigestDeps, times = DIGEST_TIMES): { stop(): Promise<void> } {
  const { store, onError } = deps
  const fixing: Fixing = {
    ...{ deps, times, pending: new Map(), filed: new Map(), running: new Map(), turns: new Map() },
  }
  for (const { record: tenant } of store.list(tenants))
    for (const { id } of store.keysOf(deployments, tenant.id)) file(fixing, tenant.id, id)
  const unwatch = store.subscribe((changes) => {
    for (const { tenant, folder, id } of changes.map(({ key }) => key))
      if (tenant !== undefined && folder === deployments.folder) file(fixing, tenant, id)
  })
  const looking = repeat(
    times.lookMs,
    async () => {
      for (const one of choose(fixing)) start(fixing, one)
    },
    (error) => onError(error, ''),
  )
  return {
    async stop() {
      unwatch()
      await looking.stop()
      await Promise.all(fixing.running.values())
    },
  }
}

/** Files the deployment under the image that it waits for, or under none. */
function file({ deps, times, pending, filed }: Fixing, tenant: TenantId, name: string): void {
  const stored = deps.store.get(inTenant(tenant, deployments, name))?.record
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
  // It was asked for just now, when it was admitted.
  const nextAt = performance.now() + rest(times, 0, deps.random)
  pending.set(key, { tenant, image, names: new Set([name]), nextAt, failures: 0, toldMissing: new Set() })
}

const isUnfixed = ({ digest, deleting }: StoredDeployment): boolean => digest === null && !deleting

const rest = ({ restMs }: DigestTimes, failures: number, random: () => number): number =>
  restMs * Math.min(2 ** failures, LONGEST_RESTS) * (1 + random() / 2)

/** Of each tenant that is not being asked for the image that has waited longest, as many as there is room for. */
function choose({ deps: { leadership }, pending, running, turns }: Fixing): Pending[] {
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

function start({ deps, times, running, turns }: Fixing, one: Pending): void {
  turns.set(one.tenant, performance.now())
  const done = tryOne(deps, times, one)
    .catch((error: unknown) => deps.onError(error, one.image))
    .finally(() => running.delete(one.tenant))
  running.set(one.tenant, done)
}

async function tryOne(deps: DigestDeps, times: DigestTimes, one: Pending): Promise<void> {
  const { store, broker, random } = deps
  const { tenant, image } = one
  one.failures += 1
  one.nextAt = performance.now() + rest(times, one.failures, random)
  const host = parseImageReference(image)?.host ?? ''
  const credential = store.get(inTenant(tenant, registryCredentials, host))
  const answer = await broker.checkImage(tenant, image, credential?.record.version)
  if (answer.kind === 'exists') await noteAll(deps, one, one.names, answer.digest)
  if (answer.kind !== 'absent') return
  const untold = [...one.names].filter((name) => !one.toldMissing.has(name))
  await noteAll(deps, one, untold, null)
  for (const name of untold) one.toldMissing.add(name)
}

/** Each deployment for itself: one whose image was changed meanwhile is none of ours. */
async function noteAll(
  deps: DigestDeps,
  { tenant, image }: Pending,
  names: Iterable<string>,
  digest: string | null,
): Promise<void> {
  await Promise.all([...names].map((name) => note(deps, tenant, name, image, digest)))
}

async function note(
  { leadership, clock }: DigestDeps,
  tenant: TenantId,
  name: string,
  image: string,
  digest: string | null,
): Promise<void> {
  await leadership.fenced<void>(tenant, (transaction) => {
    const address = inTenant(tenant, deployments, name)
    const stored = transaction.get(address)
    if (stored === undefined || !isUnfixed(stored) || stored.spec.image !== image)
      return { kind: 'abort', result: undefined }
    if (digest !== null) transaction.put(address, { ...stored, digest })
    recordEvent(transaction, clock, tenant, eventOf(stored, digest))
    return { kind: 'commit', result: undefined }
  })
}

function eventOf({ uid, spec: { name, image } }: StoredDeployment, digest: string | null): NewEvent {
  const subject = { kind: 'Deployment', name, uid }
  return digest === null
    ? {
        ...{ type: 'image.digest_missing', severity: 'warning', subject, cause: image, reason: 'not_found' },
        message: `The registry has no ${image}; deployment ${name} waits until it is pushed or another image is asked for.`,
        data: { image },
      }
    : {
        ...{ type: 'image.digest_fixed', severity: 'info', subject, cause: `${image} ${digest}` },
        reason: 'resolved',
        message: `The registry answered: ${image} is ${digest} for every replica of deployment ${name}.`,
        data: { image, digest },
      }
}
