// Shows the state of replicas and why containers fail: the last exit of a replica in a table, and the lines that `why`, `describe` and `--wait`
// print. Ages are computed here; the API reports times.

import type { FailingContainer, LastExit, PlacementEntry } from '@holdfast/contract'
import { age } from './age.ts'
import type { PrintArea } from './area.ts'
import { paint } from './color.ts'
import { count } from './count.ts'
import { plain } from './plain.ts'
import { hang } from './table.ts'

/** The state of a replica in words: a container that ended and is started again is not shown as running or ready. */
export const replicaState = ({ state, reason }: Pick<PlacementEntry, 'state' | 'reason'>): string =>
  reason === 'exited' && (state === 'running' || state === 'ready') ? 'restarting' : state

/** The number of a replica, with the mark of a canary: `1` or `1 (canary)`. */
export const replicaText = ({ replica, canary }: Pick<PlacementEntry, 'replica' | 'canary'>): string =>
  canary === true ? `${replica} (canary)` : String(replica)

/** One line per container: `replica 1 on n1: exited with code 42 3s ago, 5 restarts`. */
export function containerLines(
  containers: readonly FailingContainer[],
  nowMs: number,
  { columns, colored }: PrintArea,
): string[] {
  return containers.flatMap((each) => {
    const { replica, nodeName, cause, restarts } = each
    const again = restarts === 0 ? '' : `, ${count(restarts, 'restart')}`
    const head = `replica ${replica} on ${plain(nodeName)}: `
    return hang(head, `${paint(plain(cause), 'red', colored)}${exitAge(each, nowMs)}${again}`, columns)
  })
}

/** The age of the exit, if the exit is the cause. */
function exitAge({ reason, lastExit }: FailingContainer, nowMs: number): string {
  const isExit = reason === 'exited' || reason === ''
  return isExit && lastExit !== undefined ? ` ${age(lastExit.at, nowMs)} ago` : ''
}

/**
 * The last exit of a replica, or the problem that keeps it from running: `42, 3s ago`, `OOM-killed at 6MiB, 3s ago`,
 * `check failed: wget: not found`. `failing` are the containers that `/why` lists.
 */
export function lastExitText(
  { replica, revision, reason, cause, lastExit }: PlacementEntry,
  failing: readonly FailingContainer[],
  nowMs: number,
): string {
  if (reason === 'unhealthy') return cause === undefined ? 'check failed' : `check failed: ${cause}`
  const known = failing.find((each) => each.replica === replica && each.revision === revision)
  if (known !== undefined && reason !== undefined && reason !== 'exited') return known.cause
  if (lastExit === undefined) return known?.cause ?? ''
  const detail = reason === 'exited' && cause !== undefined ? `: ${cause}` : ''
  return `${exitText(lastExit, known)}, ${age(lastExit.at, nowMs)} ago${detail}`
}

function exitText({ code, signal, oomKilled }: LastExit, known: FailingContainer | undefined): string {
  if (oomKilled === true) return known?.cause ?? 'OOM-killed'
  return signal ?? String(code)
}
