// Derives the placement decision about a deployment at a given time from its events: the candidates of the newest
// rejection, until a replica is placed or stopped. The API's answer for each time is compared with this.

import {
  type Candidate,
  candidateShape,
  decodeOpen,
  type ListedEvent,
  list,
  listedEventShape,
  type Why,
  whyShape,
} from '@holdfast/contract'
import { expect } from 'vitest'
import type { ApiClient } from '../platform/api-client.ts'

const PAGE = 500
const REFUSED: ReadonlySet<string> = new Set(['deployment.unschedulable', 'deployment.stalled'])
/** Types of events that end a placement rejection, unless the event itself contains a rejection. */
const ENDS: ReadonlySet<string> = new Set([
  'deployment.scheduled',
  'deployment.running',
  'deployment.stopped',
])
const PHASES: { readonly [type: string]: string } = {
  'deployment.running': 'Running',
  'deployment.stopped': 'Stopped',
  'deployment.degraded': 'Degraded',
  'deployment.progressing': 'Progressing',
}

/** All events of a tenant, oldest first. */
export async function allEvents(api: ApiClient): Promise<ListedEvent[]> {
  const all: ListedEvent[] = []
  for (let after = '0-0'; ; ) {
    const { body } = await api.get(`/api/v1/events?after=${after}&limit=${PAGE}`)
    expect(body['truncated']).toBeUndefined()
    const items = decodeOpen(list(listedEventShape), body['items'])
    all.push(...items)
    const next = String(body['nextCursor'])
    if (next === after || items.length === 0) return all
    after = next
  }
}

export const isRefusal = ({ type }: ListedEvent): boolean => REFUSED.has(type)
const matrixOf = ({ data }: ListedEvent): Candidate[] =>
  decodeOpen(list(candidateShape), Object(data).candidates)

export async function whyOf(api: ApiClient, name: string, at?: number): Promise<Why> {
  const query = at === undefined ? '' : `?at=${new Date(at).toISOString()}`
  const { status, body, text } = await api.get(`/api/v1/deployments/${name}/why${query}`)
  expect(status, text).toBe(200)
  return decodeOpen(whyShape, body)
}

/**
 * Compares the API's placement decision with the decision that the events imply: at the time of each event, just before
 * that time, and halfway to the next event. Returns the number of comparisons.
 */
export async function checkMoments(
  api: ApiClient,
  name: string,
  listed: readonly ListedEvent[],
): Promise<number> {
  const times = [...new Set(listed.filter(isOfDecision).map(({ time }) => Date.parse(time)))]
  const moments = new Set<number>()
  for (const [index, time] of times.entries()) {
    const next = times[index + 1] ?? time + 1000
    for (const at of [time - 1, time, Math.floor((time + next) / 2)]) moments.add(at)
  }
  for (const at of moments) await checkMoment(api, name, listed, at)
  return moments.size
}

const isOfDecision = (event: ListedEvent): boolean =>
  isRefusal(event) || ENDS.has(event.type) || event.type in PHASES

async function checkMoment(api: ApiClient, name: string, listed: readonly ListedEvent[], at: number) {
  const answer = await whyOf(api, name, at)
  const past = listed.filter((event) => isOfDecision(event) && Date.parse(event.time) <= at)
  const where = `${name} at ${new Date(at).toISOString()}`
  const last = past.at(-1)
  if (last === undefined) {
    expect([where, answer.decidedAt, answer.candidates]).toEqual([where, null, []])
    return
  }
  const refusal = inForce(past)
  expect([where, shown(answer.candidates)]).toEqual([
    where,
    refusal === undefined ? [] : shown(matrixOf(refusal)),
  ])
  // The decision may be newer than the last event: a decision that changes neither candidates nor phase emits no event.
  expect([where, answer.decidedAt !== null && answer.decidedAt >= last.time]).toEqual([where, true])
  const phase = PHASES[last.type]
  if (phase !== undefined) expect([where, answer.phase]).toEqual([where, phase])
  if (Date.parse(last.time) !== at) return
  expect([where, answer.decidedAt]).toEqual([where, last.time])
  if (refusal?.time !== last.time) return
  expect([where, answer.candidates]).toEqual([where, matrixOf(refusal)])
  expect([where, answer.summary]).toEqual([where, refusal.message])
}

function inForce(past: readonly ListedEvent[]): ListedEvent | undefined {
  const refusal = past.findLast(isRefusal)
  const isOver = past.some(({ type, time }) => ENDS.has(type) && refusal !== undefined && time > refusal.time)
  return isOver ? undefined : refusal
}

/**
 * Rejection details that change with other replicas on the node. A change of such a detail alone is not a new decision.
 */
const MOVES: ReadonlySet<string> = new Set(['quota', 'resources', 'affinity', 'anti_affinity'])

export const shown = (candidates: readonly Candidate[]) =>
  candidates.map(({ nodeName, refusals }) => [
    nodeName,
    refusals.map(({ filter, code, required, reported }) => ({
      filter,
      code,
      required,
      reported: MOVES.has(filter) ? null : reported,
    })),
  ])
