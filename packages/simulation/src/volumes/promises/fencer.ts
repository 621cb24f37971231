// The simulated fencer of a machine: a process of its own that survives the agent and dies with the machine. It decides
// with the functions of the real fencer. It knows new deadlines at once, acts when one of them is due, and kills what starts
// during a fence within 100 ms.

import { writtenVolumes } from '@holdfast/core/node'
import { type FencerState, runFencer } from '@holdfast/core/promotion/fencer'
import {
  type Deadlines,
  type FencedGroup,
  type FencedGroups,
  type FencerReport,
  isGuarded,
  mergeDeadlines,
} from '@holdfast/core/promotion/fencer-groups'
import { knownGroups, type LeasedVolume, planDeadlines } from '@holdfast/core/promotion/plan-deadlines'
import { PROMOTION_TIMINGS } from '@holdfast/core/promotion/timings'
import { killContainer, type Machine } from '../../cluster/machine.ts'
import type { Random } from '../../time/random.ts'
import { newProcess, type SimulatedProcess, type VirtualTime } from '../../time/virtual-time.ts'
import type { Fencer } from './fencer-port.ts'

export interface FencerDeps {
  readonly time: VirtualTime
  readonly random: Random
  readonly machine: Machine
  /** Called after the fencer has killed a container. */
  onTouched(): void
}

interface Fencing extends FencerDeps {
  process: SimulatedProcess
  /** The file in memory. It survives both processes and is lost with the power. */
  file: Deadlines | undefined
  known: FencedGroups
  readonly fences: Map<string, FencerState & { readonly since: string }>
  /** Time of the last heartbeat in the report; undefined while the process lives. */
  diedMs: number | undefined
  /** Virtual time of the next planned check. */
  nextMs: number
}

/** A fencer looks at its groups at least this often while a fence is in force. */
const FENCED_LOOK_MS = 25
const LOOK_SPREAD_MS = 75

export function createFencer(deps: FencerDeps): Fencer {
  const { machine, random } = deps
  const fencing: Fencing = {
    ...{ ...deps, process: newProcess(`fencer ${machine.name}`, machine.wall), file: undefined },
    ...{ known: new Map(), fences: new Map(), diedMs: undefined, nextMs: Number.POSITIVE_INFINITY },
  }
  return {
    get process() {
      return fencing.process
    },
    write(primaries) {
      fencing.file = { boot: bootOf(machine), groups: plannedGroups(fencing, primaries) }
      if (!fencing.process.alive) return
      fencing.known = mergeDeadlines(fencing.known, fencing.file, bootOf(machine))
      // A fence ends when the fencer sees a newer end of the lease; until then it looks often.
      planCheck(fencing, fencing.fences.size > 0 ? FENCED_LOOK_MS : untilDue(fencing, fencing.known.values()))
    },
    isGuarding: (volume) =>
      isGuarded(reportOf(fencing), volume, { boot: bootOf(machine), ms: machine.clock.now() }),
    fencedSince: (volume) => fencing.fences.get(volume)?.since,
    onStarted: () => planCheck(fencing, FENCED_LOOK_MS + random.below(LOOK_SPREAD_MS)),
    kill: (forMs) => kill(fencing, forMs),
    powerOff() {
      fencing.process.alive = false
      Object.assign(fencing, { file: undefined, known: new Map() })
      fencing.fences.clear()
    },
    powerOn: () => restart(fencing),
  }
}

const bootOf = ({ clock }: Machine): string => String(clock.boot)

/** The deadlines as the agent plans them. Each volume is a group of its own. */
function plannedGroups(fencing: Fencing, primaries: readonly LeasedVolume[]): FencedGroup[] {
  const { file, machine } = fencing
  const boot = bootOf(machine)
  const report = reportOf(fencing)
  const written = [...machine.containers.values()].flatMap(({ template }) => writtenVolumes(template))
  return planDeadlines(
    knownGroups(file?.boot === boot ? file.groups : [], report, boot),
    {
      ...{ primaries, together: [], written: written.map((volume) => [volume]) },
      ...{ fenceMs: PROMOTION_TIMINGS.fenceMs, cgroupsOf: () => [], mountOf: (volume) => volume },
    },
    report,
  )
}

/** The report as the agent reads it. A living fencer renews it so often that the agent finds the newest groups in it. */
function reportOf(fencing: Fencing): FencerReport {
  const { machine, diedMs, file, known, fences } = fencing
  const boot = bootOf(machine)
  const groups = diedMs === undefined ? mergeDeadlines(known, file, boot) : known
  const shown = [...fences].map(([name, { since }]) => {
    const { epoch = 0, leaseEndMs = 0 } = groups.get(name) ?? {}
    return [name, { epoch, leaseEndMs, sinceMs: 0, since, emptyMs: undefined }] as const
  })
  const heartbeatMs = diedMs ?? machine.clock.now()
  return { boot, groups: [...groups.values()], heartbeatMs, fences: new Map(shown) }
}

function untilDue({ machine }: Fencing, groups: Iterable<FencedGroup>): number {
  let delay = Number.POSITIVE_INFINITY
  for (const { leaseEndMs, fenceMs } of groups)
    if (leaseEndMs !== Number.POSITIVE_INFINITY)
      delay = Math.min(
        delay,
        leaseEndMs === Number.NEGATIVE_INFINITY ? 0 : machine.clock.delayUntil(leaseEndMs - fenceMs),
      )
  return delay
}

function planCheck(fencing: Fencing, delayMs: number): void {
  const { time, process } = fencing
  const at = time.elapsedMs + delayMs
  if (!process.alive || at >= fencing.nextMs) return
  fencing.nextMs = at
  time.plan(delayMs, process, () => {
    if (fencing.nextMs === at) fencing.nextMs = Number.POSITIVE_INFINITY
    check(fencing)
  })
}

function check(fencing: Fencing): void {
  const { machine, fences, time } = fencing
  fencing.known = mergeDeadlines(fencing.known, fencing.file, bootOf(machine))
  for (const { name, leaseEndMs } of fencing.known.values()) {
    const before = fences.get(name)
    const step = runFencer(before ?? { fenced: false }, leaseEndMs, machine.clock.now(), PROMOTION_TIMINGS)
    if (step.kill) killWriters(fencing, name)
    if (step.announce) fences.set(name, { fenced: true, since: new Date(time.wallNow).toISOString() })
    if (!step.state.fenced) fences.delete(name)
  }
  const open = [...fencing.known.values()].filter(({ name }) => !fences.has(name))
  planCheck(fencing, untilDue(fencing, open))
}

function killWriters({ machine, onTouched }: Fencing, volume: string): void {
  for (const container of machine.containers.values()) {
    const isWriter = writtenVolumes(container.template).some((one) => one === volume)
    if (container.state !== 'running' || !isWriter) continue
    killContainer(machine, container)
    onTouched()
  }
}

function kill(fencing: Fencing, forMs: number): void {
  const { process, time, machine } = fencing
  if (!process.alive) return
  process.alive = false
  fencing.diedMs = machine.clock.now()
  const { boot } = machine.clock
  time.plan(forMs, undefined, () => {
    if (machine.powered && machine.clock.boot === boot) restart(fencing)
  })
}

/** A fencer that starts continues with the groups of its last report, and with the deadlines. */
function restart(fencing: Fencing): void {
  fencing.process = newProcess(`fencer ${fencing.machine.name}`, fencing.machine.wall)
  Object.assign(fencing, { diedMs: undefined, nextMs: Number.POSITIVE_INFINITY })
  if (fencing.machine.frozen) fencing.time.pause(fencing.process)
  planCheck(fencing, 0)
}
