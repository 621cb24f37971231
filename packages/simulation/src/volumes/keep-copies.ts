// The simulated agent's copies of volumes: it brings each copy to its desired state with the plans of the real agent, one
// step after another, so that the death of the agent interrupts it anywhere.

import type { DesiredCopy, ObservedCopy, Peer, VolumeId } from '@holdfast/contract'
import {
  type CopyAction,
  hasRoom,
  isMountable,
  isSameReport,
  planCopy,
  storedMounts,
} from '@holdfast/core/node'
import type { Machine } from '../cluster/machine.ts'
import type { Random } from '../time/random.ts'
import { findCopy, type Pool, performIn, usedBytes } from './pool.ts'

export interface CopiesChange {
  readonly complete: boolean
  readonly copies?: readonly DesiredCopy[] | undefined
  readonly goneCopies?: readonly string[] | undefined
  readonly peers?: readonly Peer[] | undefined
}

export interface CopyKeeperDeps {
  readonly machine: Machine
  readonly pool: Pool
  readonly random: Random
  report(copies: readonly ObservedCopy[]): void
  /** Called after containers may mount other volumes than before. */
  onMounts(): void
  /** Called after a change of the pool. */
  onTouched(): void
}

export interface CopyKeeper {
  readonly desired: ReadonlyMap<VolumeId, DesiredCopy>
  peers(): readonly Peer[]
  apply(change: CopiesChange): void
  observed(): ObservedCopy[]
  mayMount(volume: VolumeId): boolean
  /** Brings all copies to their desired state, after the pass that runs now. */
  check(): void
  /** Notes that this node no longer writes the volume. Does nothing while a pass runs. */
  release(volume: VolumeId, released: NonNullable<ObservedCopy['released']>): void
}

interface Keeping extends CopyKeeperDeps {
  readonly desired: Map<VolumeId, DesiredCopy>
  readonly observedCopies: Map<VolumeId, ObservedCopy>
  readonly mountable: Set<VolumeId>
  peers: readonly Peer[]
  running: boolean
  again: boolean
}

const CHECK_MS = 20_000
const BUSY_MS = 2_000

export function startCopyKeeper(deps: CopyKeeperDeps): CopyKeeper {
  const keeping: Keeping = {
    ...deps,
    desired: new Map(),
    observedCopies: new Map(),
    mountable: new Set(),
    peers: [],
    running: false,
    again: false,
  }
  setInterval(() => check(keeping), CHECK_MS)
  return {
    desired: keeping.desired,
    peers: () => keeping.peers,
    apply(change) {
      applyChange(keeping, change)
      check(keeping)
    },
    observed: () => [...keeping.observedCopies.values()],
    mayMount: (volume) => keeping.mountable.has(volume),
    check: () => check(keeping),
    release: (volume, released) => release(keeping, volume, released),
  }
}

/** A set without copies, as for an agent without the capability, changes nothing. An older epoch is ignored. */
function applyChange(keeping: Keeping, { complete, copies, goneCopies = [], peers }: CopiesChange): void {
  const { desired } = keeping
  keeping.peers = peers ?? keeping.peers
  if (copies === undefined && goneCopies.length === 0) return
  const before = new Map(desired)
  if (complete && copies !== undefined) desired.clear()
  for (const copy of copies ?? []) {
    const known = before.get(copy.volume)
    desired.set(copy.volume, known !== undefined && known.epoch > copy.epoch ? known : copy)
  }
  for (const volume of desired.keys()) if (goneCopies.includes(volume)) desired.delete(volume)
}

function check(keeping: Keeping): void {
  keeping.again = true
  if (keeping.running) return
  keeping.running = true
  void passes(keeping)
}

async function passes(keeping: Keeping): Promise<void> {
  while (keeping.again) {
    keeping.again = false
    const { desired, observedCopies } = keeping
    for (const volume of observedCopies.keys())
      if (!desired.has(volume)) {
        observedCopies.delete(volume)
        setMountable(keeping, volume, false)
      }
    for (const copy of [...desired.values()]) await converge(keeping, copy)
  }
  keeping.running = false
}

async function converge(keeping: Keeping, copy: DesiredCopy): Promise<void> {
  const { pool, onTouched } = keeping
  const planned = plan(keeping, copy)
  for (const action of planned?.actions ?? []) {
    await workOn(keeping, action)
    if (isBusy(keeping, copy.volume, action)) {
      record(keeping, copy, { ...(planned?.observed ?? nothing(copy)), state: 'pending', reason: 'busy' })
      setTimeout(() => check(keeping), BUSY_MS)
      return
    }
    performIn(pool, copy.volume, action)
    onTouched()
  }
  const { observed } = (planned?.actions.length === 0 ? planned : plan(keeping, copy)) ?? {}
  if (observed !== undefined) record(keeping, copy, observed)
}

const nothing = ({ volume, epoch }: DesiredCopy): ObservedCopy => ({
  ...{ volume, epoch, state: 'pending', sizeBytes: 0, reason: '' },
})

function plan({ pool }: Keeping, copy: DesiredCopy) {
  const { poolBytes } = pool
  const facts = { isConfirmed: true, hasRoom: hasRoom({ poolBytes, usedBytes: usedBytes(pool) }) }
  return planCopy(copy, findCopy(pool, copy.volume), facts)
}

/** The time that a step takes. A note is written almost at once. */
async function workOn({ random }: Keeping, { kind }: CopyAction): Promise<void> {
  const ms = kind === 'note' ? 1 : 5 + random.below(200)
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/** Data that a running container has mounted cannot be deleted. */
function isBusy({ machine }: Keeping, volume: VolumeId, { kind }: CopyAction): boolean {
  if (kind !== 'remove' && kind !== 'retire' && kind !== 'quarantine') return false
  return [...machine.containers.values()].some(
    ({ state, template }) =>
      state === 'running' && storedMounts(template).some((mount) => mount.volume === volume),
  )
}

function record(keeping: Keeping, copy: DesiredCopy, observed: ObservedCopy): void {
  const { observedCopies, pool } = keeping
  const before = observedCopies.get(copy.volume)
  observedCopies.set(copy.volume, observed)
  setMountable(keeping, copy.volume, isMountable(copy, findCopy(pool, copy.volume)))
  if (!isSameReport(before, observed)) keeping.report([observed])
}

function setMountable({ mountable, onMounts }: Keeping, volume: VolumeId, may: boolean): void {
  if (mountable.has(volume) === may) return
  if (may) mountable.add(volume)
  else mountable.delete(volume)
  onMounts()
}

function release(keeping: Keeping, volume: VolumeId, released: NonNullable<ObservedCopy['released']>): void {
  const { pool, desired, running } = keeping
  const note = pool.volumes.get(volume)?.note
  if (running || desired.get(volume)?.handOverTo !== released.to) return
  if (note?.content?.epoch !== released.checkpoint.epoch || note.epoch !== note.content.epoch) return
  performIn(pool, volume, { kind: 'note', note: { ...note, released } })
  keeping.onTouched()
  check(keeping)
}
