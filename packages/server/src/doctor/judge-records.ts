// Judges stored records against this version: the form in which records are written, and the versions of agents.

import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'

const START_ETCD = 'repair etcd first'

export interface FormatFacts {
  /** Highest form that this version reads. */
  readonly reads: number
  /** The stored format; undefined if no server has started yet. */
  readonly stored: Observed<{ readonly writes: number; readonly by: string } | undefined>
}

export function judgeFormat({ reads, stored }: FormatFacts): Finding {
  const check = 'record format'
  if (stored.kind === 'unobserved') return couldNotObserve(check, stored.why, START_ETCD)
  if (stored.value === undefined) return ok(check, 'no server has written records yet')
  const { writes, by } = stored.value
  if (writes <= reads)
    return ok(check, `form ${writes} is written, and this version reads up to form ${reads}`)
  return failure(
    check,
    `form ${writes} is written, and this version reads up to form ${reads}`,
    `install holdfast-server ${by} or later`,
  )
}

export interface AgentFacts {
  readonly server: string
  /** Versions of the agents of all nodes; undefined for a node whose agent has not connected yet. */
  readonly agents: Observed<readonly (string | undefined)[]>
}

/** Servers support agents of their own minor version and of the one before. */
export function judgeAgents({ server, agents }: AgentFacts): Finding {
  const check = 'agents'
  if (agents.kind === 'unobserved') return couldNotObserve(check, agents.why, START_ETCD)
  const known = agents.value.filter((version) => version !== undefined)
  const silent = agents.value.length - known.length
  const unsupported = [...new Set(known.filter((version) => !isSupported(version, server)))].toSorted()
  const count = `${agents.value.length} ${agents.value.length === 1 ? 'node' : 'nodes'}`
  const unknown = silent === 0 ? '' : `, ${silent} without a recorded version`
  if (unsupported.length === 0) return ok(check, `${count}${unknown}; all known versions fit ${server}`)
  return warning(
    check,
    `${count}${unknown}; agents of ${unsupported.join(', ')} do not fit server ${server}`,
    `upgrade servers first, then these agents, to ${server}`,
  )
}

function isSupported(agent: string, server: string): boolean {
  const [theirs, ours] = [minorOf(agent), minorOf(server)]
  if (theirs === undefined || ours === undefined) return false
  return theirs.major === ours.major && (theirs.minor === ours.minor || theirs.minor === ours.minor - 1)
}

function minorOf(version: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(version) ?? []
  return major === undefined || minor === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor) }
}
