// Inspects a container and records the result in the status table. Concurrent requests for one container share an
// inspection.

import {
  type AssignmentId,
  type DesiredItem,
  defined,
  type LastExit,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import {
  containerNetworks,
  describeExit,
  type FailedChecks,
  findDangers,
  findUnsafeSettings,
  isStartedByAgent,
  type MountPlaces,
  ownParts,
  type ReplicaView,
  type SeenContainer,
  writtenVolumes,
} from '@holdfast/core/node'
import type { Logger } from 'pino'
import { type Engine, type InspectedContainer, isFault } from '../ports/engine.ts'
import type { ExitCounts } from '../state/exit-counts.ts'
import { countExits } from './count-exits.ts'
import { createExitNotes, type ExitNote, type ExitNotes } from './exit-notes.ts'
import { explainExit } from './explain-exit.ts'
import { readEnd } from './read-end.ts'
import type { Readiness } from './readiness.ts'
import { reportedText } from './redact.ts'
import type { ReplicaStatusTable } from './replica-status-table.ts'

export interface InspectDeps {
  readonly engine: Pick<Engine, 'inspectContainer' | 'readEnvironment' | 'readLogs' | 'findExit' | 'version'>
  readonly tenant: TenantId
  readonly statuses: ReplicaStatusTable
  readonly readiness: Readiness
  readonly places: MountPlaces
  readonly exitCounts: Pick<ExitCounts, 'of' | 'note' | 'forget'>
  /** Why a writer of the volumes was killed just now, if its lease ended. */
  explainKill(volumes: readonly VolumeId[]): Promise<string | undefined>
  /** Called for a container with unsafe settings, which must be removed. */
  onUnsafe(containerId: string): void
  readonly log: Logger
}

interface Inspection {
  /** True if another request for this container arrived during the inspection, which is then repeated. */
  again: boolean
  done: Promise<void>
}

export interface Inspector {
  /** Exits and OOM kills that events announced. */
  readonly exits: ExitNotes
  /** Inspects a container. Resolves once its current state is in the status table, or the engine failed to answer. */
  inspect(id: AssignmentId, containerId: string): Promise<void>
  isInspecting(containerId: string): boolean
  /** Records that the container no longer exists. */
  markAbsent(id: AssignmentId, containerId: string): void
}

export function createInspector(deps: InspectDeps): Inspector {
  const { engine, statuses } = deps
  const inProgress = new Map<string, Inspection>()
  const logged = new Map<string, string>()
  const exits = createExitNotes()
  const markAbsent = (id: AssignmentId, containerId: string): void => {
    logged.delete(containerId)
    exits.forget(containerId)
    deps.exitCounts.forget(containerId)
    const container = statuses.view(id)?.container
    if (typeof container === 'object' && container.id === containerId)
      statuses.update(id, { container: 'absent' })
  }
  async function inspectUntilQuiet(
    id: AssignmentId,
    containerId: string,
    inspection: Inspection,
  ): Promise<void> {
    try {
      do {
        inspection.again = false
        const inspected = await engine.inspectContainer(containerId)
        const { found, note } = await readEnd(engine, exits, statuses.view(id)?.item, inspected)
        const texts = await readTexts(deps, id, found)
        const exitCause = await explainNewExit(deps, id, found, note)
        record(deps, logged, id, { found, texts, note, exitCause })
      } while (inspection.again)
    } catch (error) {
      if (isFault(error, 'not_found')) markAbsent(id, containerId)
      else deps.log.warn({ container: containerId, message: String(error) }, 'container inspection failed')
    } finally {
      inProgress.delete(containerId)
    }
  }
  return {
    exits,
    inspect(id, containerId) {
      const current = inProgress.get(containerId)
      if (current !== undefined) {
        current.again = true
        return current.done
      }
      const inspection: Inspection = { again: false, done: Promise.resolve() }
      inProgress.set(containerId, inspection)
      inspection.done = inspectUntilQuiet(id, containerId, inspection)
      return inspection.done
    },
    isInspecting: (containerId) => inProgress.has(containerId),
    markAbsent,
  }
}

/** The engine's texts about a container as they may be reported. */
interface ReportedTexts {
  readonly failedChecks: FailedChecks | undefined
  readonly cause: string | undefined
}

async function readTexts(
  { engine, statuses }: InspectDeps,
  id: AssignmentId,
  { id: containerId, failedChecks, error }: InspectedContainer,
): Promise<ReportedTexts> {
  const item = statuses.view(id)?.item
  if (item === undefined) return { failedChecks: undefined, cause: undefined }
  const report = (text: string, isCut: boolean): Promise<string> =>
    reportedText(engine, item, containerId, { text, isCut })
  return {
    failedChecks: failedChecks && {
      count: failedChecks.count,
      output: await report(failedChecks.output.text, failedChecks.output.isCut),
    },
    cause: error === '' ? undefined : await report(error, false),
  }
}

/** Why the last run ended with its lease, or could not execute its program. Read once, before the exit is reported. */
async function explainNewExit(
  { engine, statuses, explainKill }: InspectDeps,
  id: AssignmentId,
  found: InspectedContainer,
  note: ExitNote | undefined,
): Promise<ReplicaView['exitCause']> {
  const view = statuses.view(id)
  const exit = view && findLastExit(view, found, note)
  if (view === undefined || exit === undefined || exit.at === knownExit(view, found.id)?.at)
    return view?.exitCause
  const mayBeFenced = exit.signal === 'SIGKILL' && exit.oomKilled !== true
  const written = mayBeFenced ? writtenVolumes(view.item.template) : []
  const fenced = written.length === 0 ? undefined : await explainKill(written)
  if (fenced !== undefined) return { at: exit.at, text: fenced, isFenced: true }
  // While a later run is up, the engine no longer has the start of the run that ended.
  const startedAt = found.exitCode === null ? null : found.startedAt
  const text = await explainExit(engine, found.id, { code: exit.code, startedAt, finishedAt: exit.at })
  return text === undefined ? view.exitCause : { at: exit.at, text }
}

interface Inspected {
  readonly found: InspectedContainer
  readonly texts: ReportedTexts
  readonly note: ExitNote | undefined
  readonly exitCause: ReplicaView['exitCause']
}

function record(
  deps: InspectDeps,
  logged: Map<string, string>,
  id: AssignmentId,
  { found, texts, note, exitCause }: Inspected,
): void {
  const { statuses, readiness } = deps
  const view = statuses.view(id)
  // Without its item, it is unknown which settings a container should have.
  if (view === undefined) return
  if (!hasSafeSettings(deps, logged, view.item, found)) {
    deps.onUnsafe(found.id)
    return
  }
  const lastExit = findLastExit(view, found, note)
  const seen = { ...keepRestartCount(view.container, found), ...defined({ ...texts, lastExit }) }
  const container = isStartedByAgent(view.item.template)
    ? countExits(deps.exitCounts, { ...view, exitCause }, found.finishedAt, seen)
    : seen
  const adopted = isAdopted(view, found) ? { unverified: true } : {}
  statuses.update(id, { container, exitCause, creating: false, ...adopted })
  readiness.follow(id, container)
}

/**
 * Whether a container's settings are safe. An unexpected but harmless setting is logged once, as an operator may have set
 * it.
 */
function hasSafeSettings(
  { tenant, places, log }: InspectDeps,
  logged: Map<string, string>,
  { template }: DesiredItem,
  { id, settings }: InspectedContainer,
): boolean {
  const own = ownParts(template, containerNetworks(template, tenant), places)
  const unsafe = findUnsafeSettings(settings, own)
  const dangers = findDangers(settings, own)
  if (dangers.length > 0) {
    log.error({ container: id, unsafe: dangers }, 'container has unsafe settings, removing it')
    return false
  }
  const unexpected = unsafe.join()
  if (unexpected !== '' && unexpected !== logged.get(id)) {
    logged.set(id, unexpected)
    log.warn({ container: id, settings: unsafe }, 'container has unexpected settings, keeping it')
  }
  return true
}

/** True for a container that ran before this agent started; the agent reports its readiness only after verifying it. */
const isAdopted = (view: ReplicaView, found: InspectedContainer): boolean =>
  view.container === 'unknown' && view.activity === undefined && found.state === 'running'

/**
 * How the last run that ended did so. The engine forgets the exit code of a run when the next run starts, so the code of
 * the announced exit is used. An exit that the agent itself causes leaves the earlier one in place.
 */
function findLastExit(
  view: ReplicaView,
  { id, finishedAt, exitCode, oomKilled }: InspectedContainer,
  note: ExitNote | undefined,
): LastExit | undefined {
  const { item, activity } = view
  const known = knownExit(view, id)
  if (finishedAt === null || item.desired !== 'running' || activity === 'stopping') return known
  const code = exitCode ?? note?.code
  if (code === undefined) return known?.at === finishedAt ? known : undefined
  // While a later run is up, the engine's flag is about that run.
  const isFlagged = exitCode !== null && oomKilled
  const exit = { code, oomKilled: isFlagged || note?.oomKilled === true, at: finishedAt }
  return describeExit(exit, item.template.limits?.memoryBytes)
}

const knownExit = (view: ReplicaView | undefined, containerId: string): LastExit | undefined =>
  typeof view?.container === 'object' && view.container.id === containerId
    ? view.container.lastExit
    : undefined

/** Continues the agent's count of restarts, because Docker resets its own count when the agent starts a container. */
function keepRestartCount(before: ReplicaView['container'], found: InspectedContainer): SeenContainer {
  const { id, state, startedAt, restarts, health, exitCode, isEndUnknown, address, pid, proof } = found
  const seen = { id, state, startedAt, restarts, health, exitCode, isEndUnknown, address, pid, proof }
  if (typeof before !== 'object' || before.id !== id) return seen
  const wasReset = before.startedAt !== null && startedAt !== before.startedAt && restarts <= before.restarts
  return {
    ...seen,
    restarts: wasReset ? before.restarts + 1 : Math.max(before.restarts, restarts),
    // A running container has no exit code, so the exit code of its previous run is kept.
    exitCode: exitCode ?? before.exitCode,
  }
}
