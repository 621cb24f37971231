// Judges an upgrade to the version of this program: findings that block it or follow from it, each with a remedy. Servers are upgraded
// before agents, and both by one minor version at a time (docs/guides/upgrade.md).

import { isOlder, minorsBehind } from './version-skew.ts'

export interface UpgradeFacts {
  /** The version to upgrade to, the oldest and the newest form of records that it reads, and the first version with that. */
  readonly program: {
    readonly version: string
    readonly oldest: number
    readonly newest: number
    readonly since: string
  }
  /** The form that the servers write. */
  readonly writes: number
  /** Whether the servers raise the form automatically, an operator does, or a request that needs the form. */
  readonly raisedBy: 'servers' | 'operator' | 'request'
  readonly servers: readonly {
    readonly id: string
    readonly version: string
    readonly reads: number
  }[]
  /** The agents that have connected at least once. */
  readonly agents: readonly { readonly node: string; readonly version: string }[]
  /** Records of an older form, with the form to which they are migrated. */
  readonly records: readonly OlderRecords[]
  /** The number of records that cannot be decoded. */
  readonly unreadable: number
}

export interface OlderRecords {
  readonly kind: string
  readonly form: number
  readonly becomes: number
  readonly count: number
}

export interface UpgradeFinding {
  readonly level: 'blocks' | 'follows'
  readonly subject: 'servers' | 'agents' | 'records'
  readonly text: string
  readonly remedy: string
}

/** Findings that block come first. */
export function judgeUpgrade(facts: UpgradeFacts): UpgradeFinding[] {
  const all = [...judgeServers(facts), ...judgeAgents(facts), ...judgeRecords(facts), ...judgeForm(facts)]
  return all.toSorted((left, right) => rank(left) - rank(right))
}

const rank = ({ level }: UpgradeFinding): number => (level === 'blocks' ? 0 : 1)

function judgeServers({ servers, program }: UpgradeFacts): UpgradeFinding[] {
  const found = servers.flatMap(({ id, version }) => judgeServer(id, version, program.version) ?? [])
  if (servers.length !== 1 || found.length === 0) return found
  const text = 'Only one server runs, so the API is away while it restarts; containers and routes continue.'
  return [...found, { level: 'follows', subject: 'servers', text, remedy: 'Start a second server before.' }]
}

function judgeServer(id: string, version: string, to: string): UpgradeFinding | undefined {
  const subject = 'servers'
  const behind = minorsBehind(version, to)
  const runs = `Server ${id} runs ${version}`
  if (behind === undefined)
    return {
      ...{ level: 'blocks', subject, text: `${runs}, which is no version of Holdfast.` },
      remedy: 'Replace it by a released version.',
    }
  if (behind > 1)
    return {
      ...{ level: 'blocks', subject, text: `${runs}, more than one minor version before ${to}.` },
      remedy: 'Upgrade all servers by one minor version at a time.',
    }
  if (behind < 0)
    return {
      ...{ level: 'blocks', subject, text: `${runs}, which is newer than this program (${to}).` },
      remedy: `Run the plan of version ${version}.`,
    }
  if (!isOlder(version, to)) return undefined
  return {
    ...{ level: 'follows', subject, text: `${runs}.` },
    remedy: `Upgrade it to ${to}, one server at a time.`,
  }
}

/** One finding for all agents of a version. */
function judgeAgents({ agents, program }: UpgradeFacts): UpgradeFinding[] {
  const byVersion = Map.groupBy(agents, ({ version }) => version)
  return [...byVersion].flatMap(([version, of]) => {
    const names = of.map(({ node }) => node).toSorted()
    return judgeAgentVersion(version, program.version, namedNodes(names)) ?? []
  })
}

function judgeAgentVersion(version: string, to: string, nodes: string): UpgradeFinding | undefined {
  const subject = 'agents'
  const behind = minorsBehind(version, to)
  const text = `${nodes}: the agent's version is ${version}`
  if (behind === undefined || behind > 1)
    return {
      ...{ level: 'blocks', subject, text: `${text}, which servers of ${to} do not support.` },
      remedy: 'Upgrade these agents to the version of the running servers first.',
    }
  if (behind < 0)
    return {
      ...{ level: 'blocks', subject, text: `${text}, newer than ${to}.` },
      remedy: 'Upgrade the servers to that version, or install the older agent.',
    }
  if (!isOlder(version, to)) return undefined
  return {
    ...{ level: 'follows', subject, text: `${text}.` },
    remedy: `Upgrade them to ${to} after the servers, one node at a time.`,
  }
}

const MOST_NAMES = 5
function namedNodes(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES
  const shown = names.slice(0, MOST_NAMES).join(', ')
  return `${names.length === 1 ? 'Node' : 'Nodes'} ${shown}${rest > 0 ? ` and ${rest} more` : ''}`
}

function judgeRecords({ records, unreadable, program, writes }: UpgradeFacts): UpgradeFinding[] {
  const subject = 'records'
  const older = records.map(({ kind, form, becomes, count }): UpgradeFinding => {
    const text = `${count} ${kind} ${count === 1 ? 'record is' : 'records are'} of form ${form}`
    if (form < program.oldest)
      return {
        ...{ level: 'blocks', subject, text: `${text}, which ${program.version} does not read.` },
        remedy: 'Finalize the running version and wait until its servers have rewritten the records.',
      }
    const remedy =
      becomes <= writes
        ? 'Wait: the servers are rewriting them.'
        : `None: the servers rewrite them once form ${becomes} is written.`
    return { level: 'follows', subject, text: `${text}.`, remedy }
  })
  if (unreadable === 0) return older
  const text = `${unreadable} ${unreadable === 1 ? 'record' : 'records'} cannot be decoded.`
  const remedy = 'Repair or delete them; standard error names their keys.'
  return [...older, { level: 'blocks', subject, text, remedy }]
}

/** Finds when the way back to the older version ends. */
function judgeForm({ program, writes, raisedBy, servers }: UpgradeFacts): UpgradeFinding[] {
  if (writes >= program.newest || raisedBy === 'request') return []
  const isRead = servers.every(({ reads }) => reads >= program.newest)
  const lost = `versions before ${program.since} cannot start`
  const manual: UpgradeFinding = {
    ...{ level: 'follows', subject: 'records' },
    text: `Records are written in form ${writes}, so you can go back; once form ${program.newest} is written, ${lost}.`,
    remedy: `${isRead ? '' : 'After the last server is upgraded: '}holdfast-server upgrade finalize`,
  }
  if (raisedBy === 'operator') return [manual]
  const text = `Once the last server is upgraded, the servers write form ${program.newest}, and ${lost}.`
  return [{ ...manual, text, remedy: 'To keep the way back open, set upgrade.finalize to manual before.' }]
}
