// The lines of `holdfast status`, built from the same columns as `get`.

import type { Client, Result } from '@holdfast/client'
import { ofKind } from './print/amounts.ts'
import { paint } from './print/color.ts'
import type { Printed } from './print/output.ts'
import { type Column, type TableOptions, tableLines } from './print/table.ts'
import { deployments } from './resources/deployments.ts'
import { EVENT_COLUMNS } from './resources/events.ts'
import { nodes } from './resources/nodes.ts'

const EVENTS = 10
/** Columns of the overview. Node ids are omitted, and so are event reasons, because the event's message repeats them. */
const NODE_COLUMNS = nodes.columns.filter(({ header }) => header !== 'ID')
const OVERVIEW_EVENT_COLUMNS = EVENT_COLUMNS.filter(({ header }) => header !== 'REASON')

export interface OverviewOptions {
  readonly nowMs: number
  readonly colored: boolean
}

export async function overviewLines(
  client: Client,
  { nowMs, colored }: OverviewOptions,
): Promise<Result<readonly string[]>> {
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
  const ready = machines.value.filter(({ status }) => status === 'ready').length
  const running = deployed.value.filter(({ status }) => status.phase === 'Running').length
  const used = quotas.value.items.filter(({ used: amount }) => amount > 0)
  const head = `${running} of ${deployed.value.length} deployments running, ${ready} of ${machines.value.length} nodes ready`
  return {
    ok: true,
    value: [
      paint(head, 'bold', colored),
      ...(used.length === 0 ? [] : [paint(used.map(quotaText).join('  '), 'gray', colored)]),
      '',
      ...listLines(deployments, deployments.columns, deployed.value, { nowMs, colored }),
      '',
      ...listLines(nodes, NODE_COLUMNS, machines.value, { nowMs, colored }),
      '',
      ...tableLines(OVERVIEW_EVENT_COLUMNS, events.value.items.toReversed(), { nowMs, colored }),
    ],
  }
}

/** The lines of a list. An empty list gives one line that suggests the next step, instead of a table header. */
const listLines = <T>(
  { kind, begin = '' }: Pick<Printed<T>, 'kind' | 'begin'>,
  columns: readonly Column<T>[],
  items: readonly T[],
  options: TableOptions,
): string[] => (items.length === 0 ? [`no ${kind}s yet; ${begin}`] : tableLines(columns, items, options))

interface Used {
  readonly kind: string
  readonly used: number
  readonly limit: number
}

/** The text of a quota: the kind `stored_bytes` becomes `stored 42KiB/16MiB`. */
function quotaText({ kind, used, limit }: Used): string {
  const label = kind.replace(/_bytes$/, '')
  return `${label} ${ofKind(kind, used)}/${ofKind(kind, limit)}`
}
