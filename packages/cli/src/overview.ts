// The lines of `holdfast status`, built from the same columns as `get`: trouble first, stopped deployments as a number,
// and on a screen only as many rows as fit.

import type { Client, Result } from '@holdfast/client'
import type { DeploymentRecord, Node, QuotaList } from '@holdfast/contract'
import { ofKind } from './print/amounts.ts'
import { paint } from './print/color.ts'
import { wrapWords } from './print/fit.ts'
import { type Column, type TableOptions, tableRows } from './print/table.ts'
import { deployments } from './resources/deployments.ts'
import { EVENT_COLUMNS, type ShownEvent } from './resources/events.ts'
import { nodes } from './resources/nodes.ts'

const EVENTS = 10
/** Columns of the overview. Event reasons are omitted, because the event's message repeats them. */
const OVERVIEW_EVENT_COLUMNS = EVENT_COLUMNS.filter(({ header }) => header !== 'REASON')

export interface Overview {
  readonly deployments: readonly DeploymentRecord[]
  readonly nodes: readonly Node[]
  readonly quotas: QuotaList['items']
  /** Newest first. */
  readonly events: readonly ShownEvent[]
}

export async function readOverview(client: Client): Promise<Result<Overview>> {
  const [deployed, machines, quotas, events] = await Promise.all([
    deployments.list(client),
    nodes.list(client),
    client.tenants.quotas(),
    client.events({ limit: EVENTS }),
  ])
  if (!deployed.ok) return deployed
  if (!machines.ok) return machines
  if (!quotas.ok) return quotas
  if (!events.ok) return events
  return {
    ok: true,
    value: {
      deployments: deployed.value,
      nodes: machines.value,
      quotas: quotas.value.items,
      events: events.value.items.toReversed(),
    },
  }
}

export interface OverviewOptions extends Pick<TableOptions, 'columns' | 'colored' | 'nowMs'> {
  /** Number of lines that fit on the screen; absent: all are wanted. */
  readonly rows?: number
}

/** On a screen with fewer lines, quotas and empty lines give way to the lists. */
const SHORT = 16

export function overviewLines(overview: Overview, options: OverviewOptions): string[] {
  const { rows = Number.POSITIVE_INFINITY, colored = false } = options
  const active = overview.deployments.filter(({ status }) => status.phase !== 'Stopped')
  const stopped = overview.deployments.length - active.length
  const isShort = rows < SHORT
  const quotas = isShort ? [] : quotaLines(overview.quotas, options.columns)
  const head = [
    paint(headText(overview, active, stopped), 'bold', colored),
    ...quotas.map((line) => paint(line, 'gray', colored)),
  ]
  const between = isShort ? [] : ['']
  const lists: readonly List[] = [
    listOf(deployments.columns, byTrouble(active, rankOfDeployment), options, {
      none: overview.deployments.length === 0 ? `no deployments yet; ${deployments.begin ?? ''}` : '',
      more: 'holdfast get deployments',
      folded: stopped === 0 ? '' : `${stopped} stopped`,
    }),
    listOf(nodes.columns, byTrouble(overview.nodes, rankOfNode), options, {
      none: `no nodes yet; ${nodes.begin ?? ''}`,
      more: 'holdfast get nodes',
    }),
    eventList(overview.events, options),
  ]
  const shares = shareRows(
    rows - head.length - lists.length * between.length,
    lists.map(({ height }) => height),
  )
  return [...head, ...lists.flatMap((list, at) => [...between, ...list.lines(shares[at] ?? 0)])]
}

/** On a screen an event has one line, which is cut at the edge, so a narrow one shows only what no other column says. */
function eventList(events: readonly ShownEvent[], options: OverviewOptions): List {
  const { rows, columns = Number.POSITIVE_INFINITY } = options
  const texts = { none: 'no events yet', more: 'holdfast events' }
  if (rows === undefined) return listOf(OVERVIEW_EVENT_COLUMNS, events, options, texts)
  const shown = OVERVIEW_EVENT_COLUMNS.filter(
    ({ header }) => columns >= NARROW || (header !== 'SEVERITY' && header !== 'SUBJECT'),
  )
  return listOf(shown, events, { ...options, columns: Number.POSITIVE_INFINITY }, texts)
}
const NARROW = 100

function headText(
  { deployments: all, nodes: machines }: Overview,
  active: readonly DeploymentRecord[],
  stopped: number,
): string {
  const ready = machines.filter(({ status }) => status === 'ready').length
  const running = active.filter(({ status }) => status.phase === 'Running').length
  const besides = stopped === 0 || all.length === 0 ? '' : `, ${stopped} stopped`
  return `${running} of ${active.length} deployments running${besides}; ${ready} of ${machines.length} nodes ready`
}

/** The quotas that are used: the kind `stored_bytes` becomes `stored 42KiB/16MiB`. */
function quotaLines(quotas: QuotaList['items'], columns = Number.POSITIVE_INFINITY): string[] {
  const used = quotas.filter(({ used: amount }) => amount > 0)
  const texts = used.map(({ kind, used: amount, limit }) => {
    const label = kind.replace(/_bytes$/, '')
    return `${label} ${ofKind(kind, amount)}/${ofKind(kind, limit)}`
  })
  return texts.length === 0 ? [] : wrapWords(texts.join(', '), columns)
}

/** Phases from the worst to the best. A phase that is not listed comes before the good ones. */
const PHASES = ['Degraded', 'Pending', 'Waiting', 'Progressing']

function rankOfDeployment({ status: { phase, replicas } }: DeploymentRecord): number {
  const at = PHASES.indexOf(phase)
  if (at >= 0) return at
  return phase === 'Running' && replicas.ready >= replicas.desired ? PHASES.length + 1 : PHASES.length
}

const rankOfNode = ({ status, schedulable }: Node): number => (status !== 'ready' ? 0 : schedulable ? 2 : 1)

/** Sorts by rank; items of one rank keep their order. */
const byTrouble = <T>(items: readonly T[], rankOf: (item: T) => number): T[] =>
  items.toSorted((left, right) => rankOf(left) - rankOf(right))

interface List {
  /** Number of lines that the whole list needs. */
  readonly height: number
  /** The first lines of the list; the last of them says how many items are left out. */
  lines(room: number): string[]
}

interface ListTexts {
  /** Printed instead of an empty list. */
  readonly none: string
  /** The command that lists all items. */
  readonly more?: string
  /** Items that are only counted. */
  readonly folded?: string
}

function listOf<T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  options: OverviewOptions,
  { none, more = '', folded = '' }: ListTexts,
): List {
  const { head, rows } = tableRows(columns, items, options)
  const whole = items.length === 0 ? [none].filter((line) => line !== '') : [...head, ...rows.flat()]
  const foot = folded === '' ? [] : [folded]
  return {
    height: whole.length + foot.length,
    lines(room) {
      if (whole.length + foot.length <= room) return [...whole, ...foot]
      const title = room < head.length + 2 ? [] : head
      const shown = rowsThatFit(rows, room - title.length - 1)
      const left = [`${items.length - shown.length} more`, ...foot].join(', ')
      return [...title, ...shown.flat(), more === '' ? left : `${left}: ${more}`]
    },
  }
}

function rowsThatFit(rows: readonly (readonly string[])[], room: number): (readonly string[])[] {
  let left = room
  const end = rows.findIndex((row) => {
    left -= row.length
    return left < 0
  })
  return rows.slice(0, end < 0 ? rows.length : end)
}

/** Lines that each list keeps, however long the others are: its head, three items, and how many more there are. */
const KEPT = 5

/** Shares the lines of a screen among lists. Each keeps some lines; the rest is given out in the order of the lists. */
export function shareRows(room: number, heights: readonly number[]): number[] {
  const kept = Math.max(2, Math.min(KEPT, Math.floor(room / heights.length)))
  const shares = heights.map((height) => Math.min(height, kept))
  let left = room - shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share, at) => {
    const extra = Math.max(0, Math.min(left, (heights[at] ?? 0) - share))
    left -= extra
    return share + extra
  })
}
