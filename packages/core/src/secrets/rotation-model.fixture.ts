// Model of the servers during a rotation, for an exhaustive search. Each server decides with the functions of
// rotation.ts and commits later or never. To remove a guard, the model falsifies the facts that the guard checks.

import { defined } from '@holdfast/contract'
import {
  nextMove,
  type RotationConsumer,
  type RotationFacts,
  type RotationMove,
  turnRotation,
} from './rotation.ts'
import {
  changed,
  consumerSteps,
  type Decided,
  type Flight,
  type ModelConsumer,
  operatorSteps,
  type Rules,
  storeSteps,
  type World,
  withoutPending,
} from './rotation-world.fixture.ts'

export function successors(world: World, rules: Rules): World[] {
  const all = [
    ...consumerSteps(world, rules),
    ...decisions(world, rules),
    ...commits(world, rules),
    ...storeSteps(world),
    ...operatorSteps(world),
  ]
  if (rules.without === 'the transaction compares the record') return all
  // A transaction with a stale decision is rejected, so stale decisions are dropped.
  return all.map((each) =>
    each.flights.length === 0 ? each : { ...each, flights: each.flights.filter(({ stale }) => !stale) },
  )
}

function factsOf({ rotation, versions, consumers }: World): RotationFacts {
  const shown = consumers.flatMap((each, index) => (each === undefined ? [] : [consumerFacts(each, index)]))
  return { rotation, versions, consumers: shown, volumes: [] }
}

function consumerFacts({ pin, lastGood, slots, stopped }: ModelConsumer, index: number): RotationConsumer {
  const proved = new Map<number, number>()
  for (const { version, state } of slots)
    if (state === 'ready') proved.set(version, (proved.get(version) ?? 0) + 1)
  const held = [
    ...new Set([...slots.map(({ version }) => version), ...(lastGood === undefined ? [] : [lastGood])]),
  ]
  return {
    name: String(index),
    pin,
    desired: stopped ? 0 : 1,
    held,
    proved,
    leaving: false,
  }
}

const STEPS = ['stage', 'overlap', 'cutover', 'retire', 'abort'] as const
type Step = (typeof STEPS)[number]

/**
 * The model states after a server has started a decision. At most two decisions are uncommitted at a time. A server that
 * dies before its transaction leaves the state unchanged.
 */
function decisions(world: World, rules: Rules): World[] {
  const { flights, pending, nextVersion } = world
  if (flights.length > 1) return []
  const facts = factsOf(world)
  const begun: World[] = []
  if (pending === undefined && nextVersion <= rules.maxVersion)
    begun.push({
      ...world,
      pending: { version: nextVersion, written: false, pendingDestruction: false },
      nextVersion: nextVersion + 1,
    })
  for (const step of STEPS) begun.push(...decideStep(world, rules, facts, step))
  const move = nextMove(moveFacts(facts, rules), '0')
  return move === undefined ? begun : [...begun, withFlight(world, { move })]
}

function decideStep(world: World, rules: Rules, facts: RotationFacts, step: Step): World[] {
  const written = step === 'stage' ? writtenOf(world) : undefined
  if (step === 'stage' && written === undefined) return []
  if (step === 'overlap' && rules.mistaken !== true && !acceptsNew(world)) return []
  const turn = turnRotation(turnFacts(facts, rules, step), step, written)
  if (turn.kind !== 'turned') return []
  const early = rules.without === 'destroyed only after the transaction' ? turn.destroyed : []
  const store = world.store.filter((each) => !early.includes(each))
  // Which deployment requests the step matters only if the step changes that deployment's pin.
  const askers = turn.pin === undefined ? [0] : [...world.consumers.keys()]
  return askers
    .filter((asker) => world.consumers[asker] !== undefined)
    .map((asker) => withFlight({ ...world, store }, { turn, asker, ...defined({ written }) }))
}

/** Adds an uncommitted decision. Decisions are sorted, because the order in which two of them began does not matter. */
function withFlight(world: World, decided: Decided): World {
  const flight = { ...decided, label: JSON.stringify(decided), stale: false }
  return { ...world, flights: [...world.flights, flight].toSorted((a, b) => (a.label < b.label ? -1 : 1)) }
}

const writtenOf = ({ pending }: World) => (pending?.written === true ? pending.version : undefined)
const acceptsNew = ({ rotation, accepts }: World) => rotation !== undefined && accepts.includes(rotation.new)

/** The facts for a rotation step. To model the lack of a guard, the fact that the guard checks is falsified. */
function turnFacts(facts: RotationFacts, { without: guard }: Rules, step: string): RotationFacts {
  const { rotation } = facts
  if (rotation === undefined) return facts
  const forged = (forge: Forge) => forgeFacts(facts, forge)
  if (guard === 'phases advance in order' && step === 'cutover')
    return { ...facts, rotation: { ...rotation, phase: 'overlap' } }
  if (guard === 'one rotation at a time' && step === 'stage') return { ...facts, rotation: undefined }
  if (guard === 'retire: every pin is moved' && step === 'retire')
    return forged(() => ({ pin: rotation.new }))
  if (guard === 'retire: nothing old is left or can come back' && step === 'retire')
    return forged(() => ({ held: [rotation.new] }))
  if (guard === 'retire: every replica has proved' && step === 'retire')
    return forged(() => ({ proved: new Map([[rotation.new, 1]]) }))
  return facts
}

type Forge = (each: RotationConsumer) => Partial<RotationConsumer>

function forgeFacts(facts: RotationFacts, forge: Forge): RotationFacts {
  return { ...facts, consumers: facts.consumers.map((each) => ({ ...each, ...forge(each) })) }
}

function moveFacts(facts: RotationFacts, { without: guard }: Rules): RotationFacts {
  const { rotation } = facts
  if (rotation === undefined) return facts
  const forged = (forge: Forge) => forgeFacts(facts, forge)
  if (rotation.aborting === true && guard === 'abort: pins go back first')
    return forged(({ held }) => ({ pin: rotation.old, held }))
  if (rotation.aborting === true && guard === 'abort: no consumer has the new version')
    return forged(() => ({ held: [] }))
  if (rotation.aborting !== true && guard === 'cutover: one consumer after another')
    return forged(() => ({ held: [], proved: new Map([[rotation.new, 1]]) }))
  return facts
}

function commits(world: World, rules: Rules): World[] {
  return world.flights.flatMap((flight, at) => {
    const rest = { ...world, flights: world.flights.toSpliced(at, 1) }
    return 'turn' in flight ? commitTurn(rest, rules, flight) : [commitMove(rest, flight.move)]
  })
}

type Turning = Extract<Flight, { turn: unknown }>

function commitTurn(world: World, { without: guard }: Rules, { turn, asker, written }: Turning): World[] {
  const { pending } = world
  if (turn.kind !== 'turned') return []
  const live = pending?.version === written && pending?.pendingDestruction === false
  if (written !== undefined && !live && guard !== 'the transaction needs the intent') return []
  const versions = written === undefined ? world.versions : [...world.versions, written]
  const listed = { ...(written === undefined ? world : withoutPending(world)), versions }
  const turned = changed(listed, turn.rotation, turn.destroyed)
  return [turn.pin === undefined ? turned : { ...turned, consumers: pinned(world, [asker], turn.pin) }]
}

function commitMove(world: World, move: RotationMove): World {
  if (move.kind === 'end') return changed(world, undefined, move.destroyed)
  return { ...world, consumers: pinned(world, move.consumers.map(Number), move.version) }
}

function pinned({ consumers }: World, who: readonly number[], pin: number): World['consumers'] {
  return consumers.map((each, index) =>
    each === undefined || !who.includes(index) ? each : { ...each, pin, back: false },
  )
}
