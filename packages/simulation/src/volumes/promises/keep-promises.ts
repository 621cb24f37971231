// The promises of a simulated agent: the decisions and reducers of the real agent, with a disk, a clock, a fencer and a
// network that are simulated. Every change of a role is on disk before a message leaves.

import type {
  AskedVolume,
  Configuration,
  ConfigureRequest,
  NodeId,
  PromiseAnswer,
  VolumeCheckpoint,
  VolumeId,
} from '@holdfast/contract'
import { newestFirst } from '@holdfast/core/node'
import { lastWriteOf } from '@holdfast/core/promotion/copy'
import type { RenewAck } from '@holdfast/core/promotion/messages'
import {
  acknowledge,
  isPromiseExpired,
  mayStore,
  promiseState,
  type Renewal,
  voteFor,
} from '@holdfast/core/promotion/node/copy-promise'
import {
  followVolume,
  onConfiguration,
  type PrimaryRole,
  type PromisingNode,
  restoreRole,
  roleEndMs,
  savedRole,
  type VolumeRole,
} from '@holdfast/core/promotion/node/follow-volume'
import { planRequests } from '@holdfast/core/promotion/node/plan-requests'
import { onAck, renewPromises } from '@holdfast/core/promotion/primary'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'
import type { Machine } from '../../cluster/machine.ts'
import type { CopyKeeper } from '../keep-copies.ts'
import type { Pool } from '../pool.ts'

/** All renewals of a node for another one, or all acknowledgments of such a message. */
export interface PromiseMessage {
  readonly renewals: readonly (Renewal & { readonly volume: VolumeId })[]
  readonly acks: readonly (RenewAck & { readonly volume: VolumeId })[]
}

export interface PromiseDeps {
  readonly machine: Machine
  readonly pool: Pool
  readonly keeper: Pick<CopyKeeper, 'desired'>
  readonly self: NodeId
  /** Number of this start of the agent. */
  readonly starts: number
  /** Sends a message to a peer that the server named. It may arrive late or never. */
  post(to: NodeId, message: PromiseMessage): void
  /** Asks the server for changes; undefined if no answer came. */
  configure(requests: readonly ConfigureRequest[]): Promise<readonly Configuration[] | undefined>
  /** The newest checkpoint of a primary in its epoch, and the replicas that have acknowledged it. */
  current(volume: VolumeId): { readonly number: number; readonly nodes: readonly NodeId[] } | undefined
  /** Called after a change of the facts about a volume that the agent reports. */
  onChange(volume: VolumeId): void
  /** Called after writers may start that could not before. */
  onLease(): void
}

export interface PromiseKeeper {
  /** Follows the desired copies. `isComplete`: the server has sent all of them. */
  apply(isComplete: boolean): void
  receive(from: NodeId, message: PromiseMessage): void
  /** The answer to a call of the server. */
  answer(method: 'promises' | 'prepare', asked: readonly AskedVolume[]): PromiseAnswer[]
  /** Whether a checkpoint may be stored: after a vote none of its epoch. */
  mayStore(volume: VolumeId, checkpoint: VolumeCheckpoint): boolean
  /** Whether a container that writes the volume may be started now. */
  mayWrite(volume: VolumeId): boolean
  facts(volume: VolumeId): { readonly isPromiseExpired?: true; readonly fencedSince?: string }
}

interface Promising extends PromiseDeps {
  readonly roles: Map<VolumeId, VolumeRole>
  readonly reported: Map<VolumeId, string>
  /** When the server was last asked to add a node in a version. */
  readonly grownAt: Map<string, number>
  isAsking: boolean
  mayWrite: string
}

const TIMINGS = PROMOTION_TIMINGS
const GROW_AGAIN_MS = 30_000

export function startPromises(deps: PromiseDeps): PromiseKeeper {
  const promising: Promising = {
    ...{ ...deps, roles: new Map(), reported: new Map(), grownAt: new Map(), isAsking: false, mayWrite: '' },
  }
  const { pool, self } = deps
  // A machine that was enrolled again promises nothing of its former life.
  if (pool.promisedAs !== self) pool.promises.clear()
  pool.promisedAs = self
  for (const [volume, saved] of pool.promises) {
    const file = pool.leases.get(volume)
    const role = restoreRole(saved, volume, nodeOf(promising))
    const isLeased = role.role === 'primary' && file?.boot === deps.machine.clock.boot
    const leased = isLeased ? { ...role, primary: { ...role.primary, lease: file.lease } } : role
    promising.roles.set(volume, leased)
  }
  setInterval(() => round(promising), TIMINGS.renewEveryMs)
  return {
    apply: (isComplete) => follow(promising, isComplete),
    receive: (from, message) => receive(promising, from, message),
    answer: (method, asked) => asked.flatMap((one) => answerOne(promising, method, one)),
    mayStore(volume, checkpoint) {
      const role = promising.roles.get(volume)
      return role?.role !== 'copy' || mayStore(role.copy, checkpoint, TIMINGS)
    },
    mayWrite: (volume) => mayWrite(promising, volume),
    facts: (volume) => factsOf(promising, volume),
  }
}

const nodeOf = ({ self, starts, machine: { clock } }: Promising): PromisingNode => ({
  ...{ node: self, start: starts, boot: clock.boot, nowMs: clock.now(), timings: TIMINGS },
})

/** Changes a role, on disk first. */
function setRole({ roles, pool, machine }: Promising, volume: VolumeId, role: VolumeRole): void {
  roles.set(volume, role)
  pool.promises.set(volume, savedRole(role))
  if (role.role === 'primary')
    pool.leases.set(volume, { boot: machine.clock.boot, lease: role.primary.lease })
}

function follow(promising: Promising, isComplete: boolean): void {
  const { roles, keeper, pool } = promising
  for (const [volume, copy] of keeper.desired) {
    // A server without promises sends no version. Promises that were needed before stay needed.
    if (copy.desired !== 'present' || (copy.cv === undefined && !roles.has(volume))) continue
    const known = roles.get(volume)
    const next = followVolume(known, copy, nodeOf(promising))
    if (next !== known) setRole(promising, volume, next)
  }
  for (const volume of isComplete ? roles.keys() : [])
    if (!keeper.desired.has(volume)) {
      roles.delete(volume)
      pool.promises.delete(volume)
    }
  guard(promising)
}

/** Renews promises, asks the server for changes of the promotable nodes and reports changes. */
function round(promising: Promising): void {
  const { roles, machine, post } = promising
  const renewals = new Map<string, PromiseMessage['renewals'][number][]>()
  for (const [volume, role] of roles) {
    if (role.role === 'copy' || !isLive(promising, volume, role)) continue
    for (const message of renewPromises(role.primary, machine.clock.now()))
      if (message.kind === 'renew') {
        const { to, epoch, cv, sent, start } = message
        const ofNode = renewals.get(to) ?? []
        renewals.set(to, [...ofNode, { volume, from: promising.self, epoch, cv, sent, start }])
      }
  }
  for (const [to, list] of renewals) post(to as NodeId, { renewals: list, acks: [] })
  void ask(promising)
  guard(promising)
}

/** Whether this node no longer writes the volume in its epoch. */
function isOver({ pool }: Promising, volume: VolumeId, role: PrimaryRole): boolean {
  const note = pool.volumes.get(volume)?.note
  return (
    role.isDeposed || (note?.released !== undefined && note.content?.epoch === role.primary.durable.epoch)
  )
}

/** Whether this node has the live data of the epoch in which it is the primary, and may still write it. */
function isLive(promising: Promising, volume: VolumeId, role: PrimaryRole): boolean {
  const { live, note } = promising.pool.volumes.get(volume) ?? {}
  const isMade = live !== undefined && note?.content?.isMade === true
  return isMade && note?.content?.epoch === role.primary.durable.epoch && !isOver(promising, volume, role)
}

const endOf = (promising: Promising, volume: VolumeId, role: PrimaryRole): number =>
  roleEndMs(role, isOver(promising, volume, role), TIMINGS)

async function ask(promising: Promising): Promise<void> {
  if (promising.isAsking) return
  const requests: ConfigureRequest[] = []
  for (const [volume, role] of promising.roles)
    if (role.role === 'primary' && isLive(promising, volume, role))
      requests.push(...requestsOf(promising, volume, role))
  if (requests.length === 0) return
  promising.isAsking = true
  const answers = await promising.configure(requests)
  promising.isAsking = false
  for (const answer of answers ?? []) {
    const role = promising.roles.get(answer.volume)
    if (role?.role === 'primary') setRole(promising, answer.volume, onConfiguration(role, answer))
  }
  guard(promising)
}

function requestsOf(promising: Promising, volume: VolumeId, role: PrimaryRole): readonly ConfigureRequest[] {
  const { machine, current } = promising
  const isLeased = endOf(promising, volume, role) !== Number.POSITIVE_INFINITY
  const isWatched = isLeased && machine.fencer?.isGuarding(volume) === true
  const facts = { nowMs: machine.clock.now(), current: current(volume), isWatched }
  const planned = planRequests(role, volume, facts, TIMINGS)
  setRole(promising, volume, planned.role)
  const { epoch } = role.primary.durable
  const read = role.isConfirmed ? [] : [{ kind: 'read' as const, volume, epoch }]
  return [...read, ...planned.requests.filter((request) => isDue(promising, request, role))]
}

/** A server that refuses to add a living node is asked again after a while; one that is silent holds up the writer. */
function isDue(
  { grownAt, machine }: Promising,
  request: ConfigureRequest,
  { primary }: PrimaryRole,
): boolean {
  const { kind, volume, nodeId, cv } = request
  const nowMs = machine.clock.now()
  const heardMs = primary.lease.get(nodeId ?? '') ?? Number.NEGATIVE_INFINITY
  if (kind !== 'grow' || nowMs - heardMs >= TIMINGS.shrinkAfterMs) return true
  const key = `${volume} ${nodeId} ${cv}`
  if (nowMs - (grownAt.get(key) ?? Number.NEGATIVE_INFINITY) < GROW_AGAIN_MS) return false
  grownAt.set(key, nowMs)
  return true
}

function receive(promising: Promising, from: NodeId, { renewals, acks }: PromiseMessage): void {
  const answered = renewals.flatMap((renewal) => acknowledgeOne(promising, from, renewal))
  if (answered.length > 0) promising.post(from, { renewals: [], acks: answered })
  for (const ack of acks) {
    const role = promising.roles.get(ack.volume)
    if (role?.role !== 'primary') continue
    const { state } = onAck(role.primary, { ...ack, from }, promising.machine.clock.now())
    setRole(promising, ack.volume, { ...role, primary: state })
  }
  guard(promising)
}

function acknowledgeOne(
  promising: Promising,
  from: NodeId,
  renewal: PromiseMessage['renewals'][number],
): PromiseMessage['acks'] {
  const { roles, keeper, machine, self, starts } = promising
  const { volume, epoch, sent } = renewal
  const role = roles.get(volume)
  if (role?.role !== 'copy') return []
  const desired = keeper.desired.get(volume)
  const copy = acknowledge(role.copy, desired, { ...renewal, from }, machine.clock.now(), TIMINGS)
  if (copy === undefined) return []
  setRole(promising, volume, { role: 'copy', copy })
  return [{ kind: 'ack', volume, from: self, to: from, epoch, sent, start: starts }]
}

function answerOne(
  promising: Promising,
  method: 'promises' | 'prepare',
  { volume, epoch, cv, force }: AskedVolume,
): PromiseAnswer[] {
  const { roles, machine, pool } = promising
  const role = roles.get(volume)
  const nowMs = machine.clock.now()
  const held = newestFirst(pool.volumes.get(volume)?.checkpoints ?? []).map((one) => ({
    ...{ epoch: one.epoch, number: one.number, takenAt: one.takenAt },
  }))
  if (role === undefined) return []
  if (role.role === 'primary') {
    const { durable } = role.primary
    return [{ volume, epoch: durable.epoch, cv: durable.cv, state: 'primary', held }]
  }
  const asked = { epoch, cv, ...(force && { force }) }
  const voted = method === 'prepare' ? voteFor(role.copy, asked, nowMs, TIMINGS) : undefined
  if (voted !== undefined) setRole(promising, volume, { role: 'copy', copy: voted })
  const copy = voted ?? role.copy
  const lastWriteBy = lastWriteOf(copy, TIMINGS)
  const { durable } = copy
  const state = promiseState(copy, nowMs)
  return [{ volume, epoch: durable.epoch, cv: durable.cv, state, held, ...(lastWriteBy && { lastWriteBy }) }]
}

function mayWrite(promising: Promising, volume: VolumeId): boolean {
  const { roles, keeper, machine } = promising
  const desired = keeper.desired.get(volume)
  const role = roles.get(volume)
  // A server that sends no configuration knows no promises.
  if (role === undefined) return true
  if (role.role !== 'primary' || !role.isConfirmed || role.primary.durable.epoch !== desired?.epoch)
    return false
  const end = endOf(promising, volume, role)
  const isGuarded = end === Number.POSITIVE_INFINITY || machine.fencer?.isGuarding(volume) === true
  return isGuarded && machine.clock.now() < end - TIMINGS.fenceMs
}

/** Writes the deadlines for the fencer, and announces what has changed. */
function guard(promising: Promising): void {
  const { roles, machine, reported, onChange, onLease } = promising
  const primaries = [...roles].flatMap(([volume, role]) =>
    role.role === 'copy'
      ? []
      : [{ volume, epoch: role.primary.durable.epoch, leaseEndMs: endOf(promising, volume, role) }],
  )
  machine.fencer?.write(primaries)
  for (const volume of roles.keys()) {
    const text = JSON.stringify(factsOf(promising, volume))
    if (text === (reported.get(volume) ?? '{}')) continue
    reported.set(volume, text)
    onChange(volume)
  }
  const writable = [...roles.keys()].filter((volume) => mayWrite(promising, volume)).join()
  if (writable === promising.mayWrite) return
  promising.mayWrite = writable
  onLease()
}

function factsOf(
  { roles, keeper, machine, self }: Promising,
  volume: VolumeId,
): ReturnType<PromiseKeeper['facts']> {
  const role = roles.get(volume)
  const since = machine.fencer?.fencedSince(volume)
  if (role?.role === 'primary') return since === undefined ? {} : { fencedSince: since }
  const isPromotable = keeper.desired.get(volume)?.promotable?.includes(self) === true
  const isExpired = role !== undefined && isPromiseExpired(role.copy, machine.clock.now())
  return isPromotable && isExpired ? { isPromiseExpired: true } : {}
}
