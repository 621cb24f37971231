// One replica number: which of its assignments is the one to stay, which may go now, and what it waits for. A replica that
// serves goes only when another of its number serves; one that does not serve and is not wished so protects nobody.
// DECISIONS 4 (update), SAFETY 4e.

import type { Assignment } from '@holdfast/contract'
import { isReady } from '../node/observe-replica.ts'
import { type DesiredReplicas, isHeard, type MissingReplica, type ReplicaFacts } from './desired-replicas.ts'

export interface NumberPlan {
  readonly leaving: readonly Assignment[]
  /** It has nothing, and is to get this. */
  readonly empty?: MissingReplica
  /** It has only what is not wished so: in its turn it gets a successor, or loses the old first. */
  readonly outdated?: Outdated
  /** A successor is on its way, or down again, or waits until the old one is gone. */
  readonly moving: boolean
}

interface Outdated {
  readonly made: MissingReplica
  readonly old: readonly Assignment[]
  /** No node takes a successor: the old is not stopped for one. */
  readonly stranded: boolean
}

export interface Numbered {
  readonly replica: number
  /** Everything of the number that is not gone, what is on its way out included. */
  readonly group: readonly Assignment[]
  readonly room: number
}

const EXITS = 3

/** Whether a replica takes requests, as far as its node could be heard. */
export function isServing({ id, nodeId }: Assignment, facts: ReplicaFacts): boolean {
  return isReady(facts.seen(id)) && isHeard(facts.dispositionOf(nodeId))
}

/** Why an update fails at once with such a replica; undefined while there is hope. DECISIONS 4 (Ready). */
export function failureOf({ id }: Assignment, facts: ReplicaFacts): string | undefined {
  const seen = facts.seen(id)
  if (seen === undefined) return undefined
  if (seen.reason === 'unhealthy') return 'unhealthy'
  if (seen.restarts >= EXITS) return 'exited'
  return seen.state === 'failed' ? seen.reason || 'failed' : undefined
}

export function planNumber(wish: DesiredReplicas, numbered: Numbered, facts: ReplicaFacts): NumberPlan {
  const { group } = numbered
  const running = group.filter(({ desired }) => desired === 'running')
  const lost = wish.stateful ? [] : running.filter(({ nodeId }) => facts.dispositionOf(nodeId) === 'failed')
  const alive = running.filter((each) => !lost.includes(each))
  const { fitting, old } = wish.hold ? splitHeld(wish, alive, facts) : splitByAim(wish, alive, facts)
  const stays = fitting.find((each) => isServing(each, facts)) ?? fitting[0]
  const served = stays !== undefined && isServing(stays, facts)
  // What may not be there goes without a successor, but where one is on its way it is waited for.
  const mustGo = (each: Assignment) => stays === undefined && facts.dispositionOf(each.nodeId) === 'barred'
  const useless = old.filter(
    (each) => served || mustGo(each) || (!wish.gated && isUseless(wish, each, facts)),
  )
  const spare = wish.hold ? [] : fitting.filter((each) => each !== stays)
  const doubled = stays === undefined ? servingTwice(wish, without(old, useless), facts) : []
  const leaving = [...useless, ...doubled, ...spare, ...(alive.length > 0 ? lost : [])]
  if (stays !== undefined) {
    const wasReady = facts.seen(stays.id)?.state === 'ready'
    return { leaving, moving: wish.careful ? !served : !wasReady }
  }
  const rest = without(old, [...useless, ...doubled])
  return { leaving, ...withoutFitting(wish, numbered, facts, { rest, leaving }) }
}

const without = (all: readonly Assignment[], some: readonly Assignment[]): Assignment[] =>
  all.filter((each) => !some.includes(each))

/**
 * Where one was superseded in the moment in which it became ready, the one before it serves as well: one is enough until the
 * newest has a node, and what ran well is the one. The other would take the room that the newest may be waiting for.
 */
function servingTwice(
  { aim, goodHash }: DesiredReplicas,
  old: readonly Assignment[],
  facts: ReplicaFacts,
): Assignment[] {
  const superseded = old.filter(({ templateHash }) => templateHash !== aim?.templateHash)
  const serving = superseded.filter((each) => isServing(each, facts))
  const kept = serving.find(({ templateHash }) => templateHash === goodHash) ?? serving.at(-1)
  return serving.filter((each) => each !== kept)
}

interface Split {
  readonly fitting: readonly Assignment[]
  readonly old: readonly Assignment[]
}

function splitByAim(wish: DesiredReplicas, alive: readonly Assignment[], facts: ReplicaFacts): Split {
  const fits = (each: Assignment): boolean =>
    each.templateHash === wish.aim?.templateHash &&
    mayStay(wish, each, facts) &&
    !isOfFormerAttempt(wish, each, facts)
  return { fitting: alive.filter(fits), old: alive.filter((each) => !fits(each)) }
}

/** What writes is where its data are: nothing but a demand that it may not be there takes it away. */
function mayStay({ stateful }: DesiredReplicas, { nodeId }: Assignment, facts: ReplicaFacts): boolean {
  const disposition = facts.dispositionOf(nodeId)
  return disposition === 'staying' || (stateful && disposition !== 'barred')
}

function isOfFormerAttempt(wish: DesiredReplicas, each: Assignment, facts: ReplicaFacts): boolean {
  return (
    each.revision < wish.recreatedBefore && !isServing(each, facts) && failureOf(each, facts) !== undefined
  )
}

/** What failed stands by, unless nothing else is there. */
function splitHeld(wish: DesiredReplicas, alive: readonly Assignment[], facts: ReplicaFacts): Split {
  const standsBy = (each: Assignment) => each.templateHash === wish.failedHash && !isServing(each, facts)
  const isBarred = ({ nodeId }: Assignment) => facts.dispositionOf(nodeId) === 'barred'
  const others = alive.filter((each) => !standsBy(each))
  if (others.length === 0)
    return { fitting: alive.filter((each) => !isBarred(each)).slice(0, 1), old: alive.filter(isBarred) }
  // What failed does not keep a node from being emptied, and goes with what else goes.
  const leaves = ({ nodeId }: Assignment) => facts.dispositionOf(nodeId) !== 'staying'
  return { fitting: others.filter((each) => !leaves(each)), old: alive.filter(leaves) }
}

/** It was never ready, or has failed for good. Not so what ran well: of that one observation may say too little. */
function isUseless(wish: DesiredReplicas, each: Assignment, facts: ReplicaFacts): boolean {
  if (wish.hold || each.templateHash === wish.goodHash || isServing(each, facts)) return false
  if (facts.dispositionOf(each.nodeId) === 'stranded') return false
  return facts.seen(each.id)?.state !== 'ready' || failureOf(each, facts) !== undefined
}

interface Remaining {
  readonly rest: readonly Assignment[]
  readonly leaving: readonly Assignment[]
}

function withoutFitting(
  wish: DesiredReplicas,
  { replica, group, room }: Numbered,
  facts: ReplicaFacts,
  { rest, leaving }: Remaining,
): Omit<NumberPlan, 'leaving'> {
  const like = wish.hold ? (rest.find((each) => isServing(each, facts)) ?? rest[0]) : undefined
  const aim = like ?? wish.aim
  if (aim === undefined) return { moving: false }
  const made = { replica, revision: aim.revision, templateHash: aim.templateHash }
  const stranded = rest.every(({ nodeId }) => facts.dispositionOf(nodeId) === 'stranded')
  if (rest.length > 0) return { outdated: { made, old: rest, stranded }, moving: false }
  // One on a machine that is lost may never be confirmed gone, and is not waited for; unless it may still be writing.
  const isGoing = (each: Assignment) => each.desired === 'removed' || leaving.includes(each)
  const isWaitedFor = ({ nodeId }: Assignment) => wish.stateful || facts.dispositionOf(nodeId) !== 'failed'
  const going = group.some((each) => isGoing(each) && isWaitedFor(each))
  return going && (wish.stopFirst || room <= 0) ? { moving: true } : { empty: made, moving: false }
}
