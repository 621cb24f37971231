// A change under review: its plan, computed again whenever its inputs change and once more before it is sent. A plan that
// differs from the one on the page is shown and not applied. An unknown outcome is settled before anything is sent again.

import type { Failure } from '@holdfast/client'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CallError, explainFailure, type FailureText } from '../failure.ts'
import { keys } from '../keys.ts'
import { matching } from '../matching.ts'
import { type Session, useSession, whyClosed } from '../session.tsx'
import { type Change, isSamePlan, type Planned } from './change.ts'
import { isConflict, type OtherChange, readOtherChange } from './other-change.ts'

interface Checked {
  readonly planned: Planned
  /** The revision that the write requires; undefined if no record exists. */
  readonly revision: number | undefined
  /** Time of the computation, in milliseconds since 1970. */
  readonly at: number
}

type ReviewState =
  | { readonly kind: 'open' }
  /** The plan is computed once more, then the change is sent. */
  | { readonly kind: 'sending' }
  /** The plan that is shown differs from the one that the person read. Nothing was sent. */
  | { readonly kind: 'differs' }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: FailureText }
  | { readonly kind: 'conflict'; readonly other: OtherChange | undefined }
  /** No answer arrived; `again` finds out whether the change was stored, and sends it again if not. */
  | { readonly kind: 'unknown'; again(): void }

export interface Review {
  readonly checked: Checked | undefined
  /** Why there is no plan, with every rejection of the server. */
  readonly failure: FailureText | undefined
  readonly state: ReviewState
  /** Why the change is closed to this person, or now; absent if it is open. */
  readonly closed: string | undefined
  apply(): void
  /** Reads the plan again after a failure. */
  again(): void
}

const NEEDS = 'deployments:write'

/** `stale`: whether the shown data may be old, which closes every change. */
export function useReview(change: Change, stale: boolean): Review {
  const session = useSession()
  const { tenant, me } = session
  const queries = useQueryClient()
  const [state, setState] = useState<ReviewState>({ kind: 'open' })
  const queryKey = keys.plan(tenant, change.id)
  const isOpen = state.kind !== 'sending' && state.kind !== 'done' && state.kind !== 'unknown'
  const query = useQuery({
    queryKey,
    gcTime: 0,
    enabled: isOpen,
    queryFn: ({ signal }) => check(session, change, signal),
  })
  const tools = { session, queries, change, show: setState }
  return {
    checked: query.data,
    failure: failureOf(query.error),
    state: conflictOf(query.error) ?? state,
    closed: whyClosed(me, NEEDS, stale),
    apply() {
      if (query.data !== undefined) void apply(tools, query.data)
    },
    again: () => void query.refetch(),
  }
}

const failureOf = (error: Error | null): FailureText | undefined =>
  error === null || error instanceof ConflictError ? undefined : explainFailure(error)

/** A plan that requires a revision which is no longer stored fails like the write itself. */
function conflictOf(error: Error | null): ReviewState | undefined {
  if (!(error instanceof ConflictError)) return undefined
  return { kind: 'conflict', other: error.other }
}

class ConflictError extends Error {
  readonly other: OtherChange | undefined
  constructor(other: OtherChange | undefined) {
    super('conflict')
    this.other = other
  }
}

async function check({ client }: Session, change: Change, signal?: AbortSignal): Promise<Checked> {
  const stored = await change.revision(client, signal)
  if (!stored.ok) throw new CallError(stored.failure)
  const conditions = { ...matching(stored.value), ...(signal === undefined ? {} : { signal }) }
  const planned = await change.plan(client, conditions)
  if (planned.ok) return { planned: planned.value, revision: stored.value, at: Date.now() }
  if (isConflict(planned.failure))
    throw new ConflictError(await readOtherChange(client, change, stored.value))
  throw new CallError(planned.failure)
}

interface Tools {
  readonly session: Session
  readonly queries: QueryClient
  readonly change: Change
  show(state: ReviewState): void
}

async function apply(tools: Tools, read: Checked): Promise<void> {
  const { session, queries, change, show } = tools
  show({ kind: 'sending' })
  const fresh = await check(session, change).catch((error: unknown) => error)
  if (fresh instanceof ConflictError) return show({ kind: 'conflict', other: fresh.other })
  if (fresh instanceof CallError) return show({ kind: 'failed', failure: explainFailure(fresh) })
  if (!isChecked(fresh)) throw fresh
  queries.setQueryData(keys.plan(session.tenant, change.id), fresh)
  if (!isSamePlan(fresh.planned, read.planned)) return show({ kind: 'differs' })
  await send(tools, fresh.revision, crypto.randomUUID())
}

const isChecked = (value: unknown): value is Checked =>
  typeof value === 'object' && value !== null && 'planned' in value

async function send(tools: Tools, revision: number | undefined, idempotencyKey: string): Promise<void> {
  const { session, change, show } = tools
  const again = (): void => void settle(tools, revision, idempotencyKey)
  show({ kind: 'sending' })
  const sent = await change.send(session.client, { ...matching(revision), idempotencyKey })
  show(sent.ok ? { kind: 'done' } : await afterFailure(tools, sent.failure, revision, again))
}

async function afterFailure(
  { session, change }: Tools,
  failure: Failure,
  revision: number | undefined,
  again: () => void,
): Promise<ReviewState> {
  if (failure.kind === 'unreachable') return { kind: 'unknown', again }
  if (isConflict(failure))
    return { kind: 'conflict', other: await readOtherChange(session.client, change, revision) }
  return { kind: 'failed', failure: explainFailure(new CallError(failure)) }
}

/**
 * Finds out what became of a write without an answer. A write with an Idempotency-Key is sent again. For the others the
 * stored revision decides: an unchanged one means that nothing was stored.
 */
async function settle(tools: Tools, revision: number | undefined, idempotencyKey: string): Promise<void> {
  const { change, show } = tools
  const { client } = tools.session
  if (change.keyed) return send(tools, revision, idempotencyKey)
  show({ kind: 'sending' })
  const again = (): void => void settle(tools, revision, idempotencyKey)
  const unknown: ReviewState = { kind: 'unknown', again }
  const stored = await change.stored(client)
  if (!stored.ok) return show(unknown)
  if (stored.value === revision) return send(tools, revision, idempotencyKey)
  if (stored.value === undefined) return show({ kind: 'done' })
  const plan = await change.plan(client, {})
  if (!plan.ok) return show(unknown)
  if (plan.value.action === 'none') return show({ kind: 'done' })
  show({ kind: 'conflict', other: await readOtherChange(client, change, revision) })
}
