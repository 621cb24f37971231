// Model of everything around a rotation except the servers: consumers that roll, crash, restart and join, the secrets
// store, and an operator who updates the target system. The servers are in rotation-model.fixture.ts.

import type { Rotating, RotationMove, RotationTurn } from './rotation.ts'

type SlotState = 'assigned' | 'made' | 'ready'

export interface ModelConsumer {
  readonly pin: number
  /** The secret version that a failed update restores; undefined until an update has succeeded. */
  readonly lastGood: number | undefined
  /** True if the consumer has no replicas at the moment. */
  readonly stopped: boolean
  /** True if the consumer was rolled back, so that its pin differs from the version that it runs. */
  readonly back: boolean
  readonly slots: readonly { readonly version: number; readonly state: SlotState }[]
}

/** An uncommitted decision of a server. It is stale if the credential's record has changed since the server read it. */
export type Flight = Decided & {
  /** The whole decision as text, for sorting and comparing. */
  readonly label: string
  readonly stale: boolean
}
export type Decided =
  | { readonly turn: RotationTurn; readonly asker: number; readonly written?: number }
  | { readonly move: RotationMove }

export interface World {
  readonly rotation: Rotating | undefined
  readonly versions: readonly number[]
  /** Versions that exist in the secrets store. */
  readonly store: readonly number[]
  /** Versions to destroy in the secrets store, because a transaction removed them from the credential's record. */
  readonly pendingDestruction: readonly number[]
  /** A version that is written to the secrets store before a transaction lists it in the credential's record. */
  readonly pending?: {
    readonly version: number
    readonly written: boolean
    readonly pendingDestruction: boolean
  }
  readonly nextVersion: number
  readonly accepts: readonly number[]
  readonly consumers: readonly (ModelConsumer | undefined)[]
  /** Uncommitted decisions, at most two at the same time. */
  readonly flights: readonly Flight[]
}

export interface Rules {
  /** Whether a second consumer may join at any time. */
  readonly joiner?: boolean
  /** Whether the operator requests `overlap` without updating the target system. */
  readonly mistaken?: boolean
  readonly maxVersion: number
  readonly without?: Guard
}

export const GUARDS = [
  'phases advance in order',
  'one rotation at a time',
  'retire: every pin is moved',
  'retire: nothing old is left or can come back',
  'retire: every replica has proved',
  'abort: pins go back first',
  'abort: no consumer has the new version',
  'cutover: one consumer after another',
  'the transaction compares the record',
  'the transaction needs the intent',
  'destroyed only after the transaction',
  'a staged version is taken by cutover only',
  'a new consumer is noted in the record',
] as const
export type Guard = (typeof GUARDS)[number]

export const FIRST_WORLD: World = {
  rotation: undefined,
  versions: [1],
  store: [1],
  pendingDestruction: [],
  nextVersion: 2,
  accepts: [1],
  flights: [],
  consumers: [{ ...fresh(1), stopped: false }, undefined],
}

/** The state of the model as text. Equal texts mean equal states. */
export function worldText(world: World): string {
  const { rotation: at, pending, consumers, flights } = world
  const own = consumers.map((each) =>
    each === undefined
      ? '-'
      : `${each.pin}${each.lastGood}${each.stopped ? 's' : ''}${each.back ? 'b' : ''}${each.slots.map(({ version, state }) => version + state).join()}`,
  )
  return [
    at === undefined ? '' : `${at.phase}${at.old}${at.new}${at.aborting === true ? 'a' : ''}`,
    ...[world.versions, world.store, world.pendingDestruction, world.accepts].map((each) => each.join('')),
    pending === undefined
      ? ''
      : `${pending.version}${pending.written ? 'w' : ''}${pending.pendingDestruction ? 'd' : ''}`,
    ...[world.nextVersion, ...own],
    ...flights.map(({ label, stale }) => `${label}${stale ? 's' : ''}`),
  ].join(' ')
}

export function consumerSteps(world: World, rules: Rules): World[] {
  return world.consumers.flatMap((consumer, index) => {
    const replaced = (next: ModelConsumer): World => ({
      ...world,
      consumers: world.consumers.map((each, at) => (at === index ? next : each)),
    })
    if (consumer === undefined && rules.joiner !== true) return []
    if (consumer === undefined)
      return joins(world, rules).map((pin) => noted(replaced(joining(pin, rules)), rules))
    return [...rollSteps(consumer, world).map(replaced), ...restarts(consumer, world, rules).map(replaced)]
  })
}

/** Writes the credential's record because a consumer joins, unless the model removes the guard that requires this. */
const noted = (world: World, { without }: Rules): World =>
  without === 'a new consumer is noted in the record' ? world : changed(world, world.rotation, [])

/**
 * A consumer that joins. It has no replicas, unless the operator may be mistaken: a consumer without replicas would
 * change to a new version without any proof, and the mistake would not be detected.
 */
const joining = (pin: number, { mistaken = false }: Rules): ModelConsumer => ({
  ...fresh(pin),
  stopped: !mistaken,
})

function fresh(pin: number): ModelConsumer {
  return { pin, lastGood: undefined, stopped: true, back: false, slots: [] }
}

/** The newest version that is not staged by a rotation. */
function newestUnstaged({ rotation, versions }: World, { without }: Rules): number | undefined {
  const free = without === 'a staged version is taken by cutover only' ? undefined : rotation?.new
  return versions.findLast((each) => each !== free)
}

function joins(world: World, rules: Rules): number[] {
  const pin = newestUnstaged(world, rules)
  return pin === undefined ? [] : [pin]
}

/** The consumer after an update, rollback or restart that a client requests. */
function restarts(consumer: ModelConsumer, world: World, rules: Rules): ModelConsumer[] {
  const pin = consumer.pin === world.rotation?.new ? consumer.pin : newestUnstaged(world, rules)
  if (pin === undefined || (pin === consumer.pin && !consumer.back)) return []
  return [{ ...consumer, pin, back: false }]
}

/** All states that a consumer can be in after one step of its rollout or one failure. */
function rollSteps(consumer: ModelConsumer, { store, accepts }: World): ModelConsumer[] {
  const { slots, pin, lastGood, back } = consumer
  if (consumer.stopped) return [{ ...consumer, stopped: false }]
  const target = back && lastGood !== undefined ? lastGood : pin
  const steps: ModelConsumer[] = []
  if (slots.length < 2 && !slots.some(({ version }) => version === target))
    steps.push({ ...consumer, slots: sorted([...slots, { version: target, state: 'assigned' }]) })
  for (const [at, slot] of slots.entries()) {
    const as = (state: SlotState) => ({ ...consumer, slots: slots.with(at, { ...slot, state }) })
    if (slot.state === 'assigned' && store.includes(slot.version)) steps.push(as('made'))
    if (slot.state === 'made' && accepts.includes(slot.version)) steps.push(as('ready'))
    if (slot.state === 'ready') steps.push(as('assigned'))
    // The replica was replaced by a ready successor, stopped before its successor started, or lost with its node.
    steps.push({ ...consumer, slots: slots.toSpliced(at, 1) })
  }
  const [only] = slots
  if (
    !back &&
    lastGood !== undefined &&
    pin !== lastGood &&
    slots.some(({ version, state }) => version === pin && state !== 'ready')
  )
    steps.push({ ...consumer, back: true, slots: slots.filter(({ version }) => version !== pin) })
  if (!back && pin !== lastGood && slots.length === 1 && only?.version === pin && only.state === 'ready')
    steps.push({ ...consumer, lastGood: pin })
  return steps
}

const sorted = (slots: ModelConsumer['slots']) =>
  slots.toSorted((left, right) => left.version - right.version)

export function storeSteps(world: World): World[] {
  const { pending, store, pendingDestruction, versions } = world
  const steps: World[] = []
  for (const version of pendingDestruction)
    steps.push({
      ...world,
      store: store.filter((each) => each !== version),
      pendingDestruction: pendingDestruction.filter((each) => each !== version),
    })
  if (pending === undefined) return steps
  const { version, written } = pending
  if (!written && !pending.pendingDestruction)
    steps.push({ ...world, pending: { ...pending, written: true }, store: [...store, version].toSorted() })
  if (!pending.pendingDestruction && !versions.includes(version))
    steps.push({ ...world, pending: { ...pending, pendingDestruction: true } })
  if (pending.pendingDestruction)
    steps.push({ ...withoutPending(world), store: store.filter((each) => each !== version) })
  return steps
}

/** Steps of the operator: adding the staged version to the target system, and removing versions no longer recorded. */
export function operatorSteps(world: World): World[] {
  const { rotation, accepts, versions } = world
  const steps: World[] = []
  if (rotation?.phase === 'stage' && !accepts.includes(rotation.new))
    steps.push({ ...world, accepts: [...accepts, rotation.new].toSorted() })
  for (const version of accepts)
    if (!versions.includes(version))
      steps.push({ ...world, accepts: accepts.filter((each) => each !== version) })
  return steps
}

export function withoutPending({ pending: _ended, ...rest }: World): World {
  return rest
}

/** Changes the credential's record, so that decisions based on the old record become stale. */
export function changed(world: World, rotation: Rotating | undefined, destroyed: readonly number[]): World {
  return {
    ...world,
    rotation,
    versions: world.versions.filter((each) => !destroyed.includes(each)),
    pendingDestruction: [...world.pendingDestruction, ...destroyed].toSorted(),
    flights: world.flights.map((each) => ({ ...each, stale: true })),
  }
}
