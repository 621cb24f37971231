// From a node's ask to the environment of one container that only this node can read. DECISIONS 8, SAFETY 2 rows 25 and 26:
// the live assignment is looked up here, before the material is read and again, on a current view, before it is handed out.

import { setImmediate } from 'node:timers/promises'
import { composeEnvironment, type EntryDocuments } from '@holdfast/core'
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
/** The records moved under each of them: then the next attempt of the agent. */
const MAX_TRIES = 3

export interface Dispatch extends LiveAssignment {
  readonly plan: DispatchPlan
}

/** What is to be given as the records are now. */
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
      prepareMeanwhile(dispatch.node.encryptionKey),
      // One confirmation answers for all who asked before it began, and it runs beside the read.
      deps.store.fresh(),
    ])
    const now = lookUp(deps, ask)
    if (now === undefined) return NOT_ASSIGNED
    if (saysTheSame(dispatch, now)) {
      if (read.kind === 'failed') return unresolved(read.secret, read.cause)
      return sealFor(deps, ask, now, read.entries, sealing)
    }
    dispatch = now
  }
  return UNAVAILABLE
}

/** When the others have sent what they ask: until it is answered there is nothing else to do. */
async function prepareMeanwhile(encryptionKey: string): Promise<ReturnType<typeof prepareSeal>> {
  await setImmediate()
  return prepareSeal(encryptionKey)
}

/** An assignment's template never changes; its node's key and the rotation of a credential may. */
function saysTheSame(one: Dispatch, other: Dispatch): boolean {
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

/** One version after the other: a path that fails is asked once. */
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
    const read = await readDocument({ tenant, namespace, label, version, revision }, signal)
    if (read.kind === 'failed') return { kind: 'failed', secret: name, cause: read.cause }
    documents.set(which, revealed(read.document))
  }
  const [next, previous] = [documents.get('next'), documents.get('previous')]
  const current = documents.get('current') ?? new Map<string, string>()
  const beside = { ...(next === undefined ? {} : { next }), ...(previous === undefined ? {} : { previous }) }
  return { kind: 'ok', entry: { name, label, current, ...beside } }
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
  if (composed.kind === 'unresolved') return unresolved(composed.secret, composed.cause)
  const made = plan.kind === 'ok' ? plan.made : new Map<string, number>()
  const proof = containerProof(await proofKeyOf(store, ids), assignmentId, made)
  const text = JSON.stringify({ assignmentId, attempt, environment: composed.environment, proof })
  return { sealed: sealing(text) }
}

const MAX_ABOUT = 200

/** The name is an entry's or a variable's, the cause a word of ours: nothing of a value. */
function unresolved(secret: string, cause: string): SealedAnswer {
  return { error: 'secret_unresolved', about: `${secret}: ${cause}`.slice(-MAX_ABOUT) }
}
