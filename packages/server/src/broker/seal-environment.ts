// Resolves the environment of a container and encrypts it to the requesting node. Checks the assignment before it reads
// secret values, and again on a fresh cache before it returns them. See docs/design/secrets.md#dispatch.

import { setImmediate } from 'node:timers/promises'
import { defined, encodeOpen } from '@holdfast/contract'
import { composeEnvironment, type EntryDocuments, type MissingKey } from '@holdfast/core'
import { containerProof, proofKeyOf } from '../operations/secrets/rotation/proof.ts'
import type { EnvironmentAsk, SealedAnswer } from '../ports/broker.ts'
import type { IdSource } from '../ports/clock.ts'
import type { SecretDocument } from '../ports/secrets-store.ts'
import { credentials } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { inTenant } from '../store/transaction.ts'
import { findLive, type LiveAssignment } from './live-assignment.ts'
import { type DispatchPlan, type EntryPlan, planDispatch } from './plan-dispatch.ts'
import type { ReadCause, ReadDocument } from './read-documents.ts'
import { prepareSeal } from './seal.ts'

export interface DispatchDeps {
  readonly store: Store
  readonly ids: Pick<IdSource, 'bytes'>
  readonly readDocument: ReadDocument
}

const NOT_ASSIGNED: SealedAnswer = { error: 'not_assigned' }
const UNAVAILABLE: SealedAnswer = { error: 'broker_unavailable' }
/** Maximum number of tries if records change while secrets are read. After that, the agent has to repeat the request. */
const MAX_TRIES = 3

export interface Dispatch extends LiveAssignment {
  readonly plan: DispatchPlan
}

/** Returns the assignment and the versions of its secrets according to the current records. */
export function lookUp({ store }: DispatchDeps, ask: EnvironmentAsk): Dispatch | undefined {
  const live = findLive(store, ask)
  const find = (label: string) => store.get(inTenant(ask.tenant, credentials, label))
  return live === undefined ? undefined : { ...live, plan: planDispatch(live.template, find) }
}

export async function resolveAndSeal(
  deps: DispatchDeps,
  ask: EnvironmentAsk,
  found: Dispatch,
  signal: AbortSignal,
): Promise<SealedAnswer> {
  let dispatch = found
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [read, sealing] = await Promise.all([
      readAll(deps, ask, dispatch.plan, signal),
      prepareInParallel(dispatch.node.encryptionKey),
      // The cache is refreshed while the secrets are read; concurrent requests share one refresh.
      deps.store.fresh(),
    ])
    const now = lookUp(deps, ask)
    if (now === undefined) return NOT_ASSIGNED
    if (isSameDispatch(dispatch, now)) {
      if (read.kind === 'failed') return unresolved(read.secret, read.cause)
      return sealFor(deps, ask, now, read.entries, sealing)
    }
    dispatch = now
  }
  return UNAVAILABLE
}

/** Does the key agreement for the encryption while the reads of the secrets store are in flight. */
async function prepareInParallel(encryptionKey: string): Promise<ReturnType<typeof prepareSeal>> {
  await setImmediate()
  return prepareSeal(encryptionKey)
}

/** Compares two lookups of one assignment by what may change between them: the node's key, and the secret versions. */
function isSameDispatch(one: Dispatch, other: Dispatch): boolean {
  const text = ({ node, plan }: Dispatch): string =>
    JSON.stringify([node.encryptionKey, plan.kind === 'ok' ? plan.entries : plan])
  return text(one) === text(other)
}

type ReadAll =
  | { readonly kind: 'ok'; readonly entries: readonly EntryDocuments[] }
  | { readonly kind: 'failed'; readonly secret: string; readonly cause: ReadCause }

async function readAll(
  deps: DispatchDeps,
  ask: EnvironmentAsk,
  plan: DispatchPlan,
  signal: AbortSignal,
): Promise<ReadAll> {
  if (plan.kind === 'unresolved') return { kind: 'failed', secret: plan.secret, cause: plan.cause }
  const read = await Promise.all(plan.entries.map((entry) => readEntry(deps, ask, entry, signal)))
  const entries: EntryDocuments[] = []
  for (const one of read) {
    if (one.kind === 'failed') return one
    entries.push(one.entry)
  }
  return { kind: 'ok', entries }
}

type ReadEntry =
  | { readonly kind: 'ok'; readonly entry: EntryDocuments }
  | { readonly kind: 'failed'; readonly secret: string; readonly cause: ReadCause }

/** Reads the versions of a secret one after another: after a failure, the other versions of the path are not read. */
async function readEntry(
  { readDocument }: DispatchDeps,
  { tenant }: EnvironmentAsk,
  plan: EntryPlan,
  signal: AbortSignal,
): Promise<ReadEntry> {
  const { name, namespace, label, revision } = plan
  const documents = new Map<'current' | 'next' | 'previous', ReadonlyMap<string, string>>()
  for (const which of ['current', 'next', 'previous'] as const) {
    const version = plan[which]
    if (version === undefined) continue
    const storedAt = plan.storedAt?.[version]
    const wanted = { tenant, namespace, label, version, revision, ...defined({ storedAt }) }
    const read = await readDocument(wanted, signal)
    if (read.kind === 'failed') return { kind: 'failed', secret: name, cause: read.cause }
    documents.set(which, revealed(read.document))
  }
  const [next, previous] = [documents.get('next'), documents.get('previous')]
  const current = documents.get('current') ?? new Map<string, string>()
  return { kind: 'ok', entry: { name, label, current, ...defined({ next, previous }) } }
}

const revealed = (document: SecretDocument): ReadonlyMap<string, string> =>
  new Map([...document].map(([key, value]) => [key, value.reveal()]))

async function sealFor(
  { store, ids }: DispatchDeps,
  { assignmentId, attempt }: EnvironmentAsk,
  { template, plan }: Dispatch,
  entries: readonly EntryDocuments[],
  sealing: (plaintext: string) => string,
): Promise<SealedAnswer> {
  const { environment, composedEnvironment = {} } = template
  const composed = composeEnvironment({ environment, entries, composedEnvironment })
  if (composed.kind === 'unresolved') {
    const { secret, cause, missing } = composed
    return unresolved(secret, cause, missing && versionOf(plan, missing.label), missing)
  }
  const usedVersions = plan.kind === 'ok' ? plan.usedVersions : new Map<string, number>()
  const proof = containerProof(await proofKeyOf(store, ids), assignmentId, usedVersions)
  const text = encodeOpen({ assignmentId, attempt, environment: composed.environment, proof })
  return { sealed: sealing(text) }
}

const versionOf = (plan: DispatchPlan, label: string): number | undefined =>
  plan.kind === 'ok' ? plan.entries.find((entry) => entry.label === label)?.current : undefined

const MAX_ABOUT = 200

/**
 * Builds the error for the node from the name of a secret or variable and a fixed cause, never from a secret value. Of a
 * missing key it adds version, key and variable, which the deployment's template names too.
 */
function unresolved(secret: string, cause: string, version?: number, missing?: MissingKey): SealedAnswer {
  const short = `${secret}: ${cause}`.slice(-MAX_ABOUT)
  const full = `${secret}: ${cause} ${version} ${missing?.key} ${missing?.variable}`
  const isKnown = version !== undefined && missing !== undefined && full.length <= MAX_ABOUT
  return { error: 'secret_unresolved', about: isKnown ? full : short }
}
