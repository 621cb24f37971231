// Says in words why a container does not run as desired, from what its agent reported. Statuses, events, `/why` and
// placements all use these words. They contain no times and no counts, so that equal failures have equal texts and
// lists of events fold them.

import {
  type Assignment,
  type AssignmentId,
  cleanCause,
  defined,
  type FailingContainer,
  type LastExit,
  type NodeId,
  type Observation,
} from '@holdfast/contract'

export type FailureFacts = Pick<Observation, 'state' | 'reason'> &
  Partial<Pick<Observation, 'exitCode' | 'restarts' | 'lastExit' | 'cause' | 'failedChecks'>>

/** The most containers that an explanation lists. */
const MOST_LISTED = 10

/** The containers of the given assignments that fail with a known cause, lowest replica first; at most ten. */
export function failingContainers(
  assignments: readonly Assignment[],
  observed: (id: AssignmentId) => FailureFacts | undefined,
  nodeName: (id: NodeId) => string,
  most = MOST_LISTED,
): FailingContainer[] {
  const failing: FailingContainer[] = []
  for (const { id, replica, nodeId, revision } of assignments) {
    const seen = observed(id)
    const cause = containerCause(seen)
    if (seen === undefined || cause === undefined) continue
    const { reason, restarts = 0, lastExit, failedChecks } = seen
    const about = { replica, nodeId, nodeName: nodeName(nodeId), revision, reason, restarts, cause }
    failing.push({ ...about, ...defined({ lastExit, failedChecks }) })
  }
  return failing.toSorted((one, other) => one.replica - other.replica).slice(0, most)
}

/** Reasons of an agent, as words that a detail may follow. Exits have words of their own. */
const WORDS: { readonly [reason: string]: string } = {
  unhealthy: 'health check failed',
  image_pull_failed: 'image pull failed',
  create_failed: 'cannot create the container',
  start_failed: 'cannot start',
  volume_not_mounted: 'waits for a volume',
  fenced: 'was fenced',
  volume_not_leased: 'waits for the lease of a volume',
  network_failed: "cannot set up the tenant's network",
  refused_by_agent: 'refused by the agent',
  unsafe_settings: 'its settings were changed outside of Holdfast',
  removed: 'was removed outside of Holdfast',
  paused: 'is paused outside of Holdfast',
}

/** The cause of a failure in at most 1 KiB; undefined if the replica has no problem, or one with a text of its own. */
export function containerCause(seen: FailureFacts | undefined): string | undefined {
  if (seen === undefined) return undefined
  if (seen.reason === '') return seen.state === 'ready' ? undefined : lastCause(seen)
  const words = seen.reason === 'exited' ? exitText(seen) : WORDS[seen.reason]
  if (words === undefined) return undefined
  const detail = detailText(seen.cause)
  return cleanCause(detail === '' ? words : `${words}: ${detail}`)
}

/** The cause of a container that runs and is not ready yet: the end of its last run, or else its last failed check. */
function lastCause(seen: FailureFacts): string | undefined {
  const hasFailedChecks = (seen.failedChecks ?? 0) > 0
  // The detail of a container whose checks fail is the output of the check, which does not explain the exit.
  if (seen.lastExit !== undefined && hasFailedChecks) return lastExitText(seen.lastExit)
  if (seen.lastExit !== undefined) return containerCause({ ...seen, reason: 'exited' })
  return hasFailedChecks ? containerCause({ ...seen, reason: 'unhealthy' }) : undefined
}

function exitText({ lastExit, exitCode }: FailureFacts): string {
  if (lastExit !== undefined) return lastExitText(lastExit)
  return typeof exitCode === 'number' ? `exited with code ${exitCode}` : 'exited'
}

function lastExitText({ code, signal, oomKilled, oomLimitBytes }: LastExit): string {
  if (oomKilled === true)
    return oomLimitBytes === undefined ? 'OOM-killed' : `OOM-killed at ${sizeText(oomLimitBytes)}`
  return signal === undefined ? `exited with code ${code}` : `killed by ${signal}`
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A memory size in its largest unit: "6 MiB", "1.5 GiB". */
function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)} ${UNITS[power]}`
}

const ARCHITECTURE = 'the image is built for another architecture'

/** The engine's error or the check's output. An image of another architecture has an error that few readers know. */
function detailText(cause = ''): string {
  return cause.includes('exec format error') && !cause.includes('another architecture')
    ? `${cause} (${ARCHITECTURE})`
    : cause
}
