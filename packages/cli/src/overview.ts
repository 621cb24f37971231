// What `status` draws: as text, from the same columns as `get`.

import type { Client, Result } from '@holdfast/client'
import { tableLines } from './print/table.ts'
import { deployments } from './resources/deployments.ts'
import { EVENT_COLUMNS } from './resources/events.ts'
import { nodes } from './resources/nodes.ts'

const EVENTS = 10

export async function overviewLines(
  client: Client,
  nowMs: number,
  signal: AbortSignal,
): Promise<Result<readonly string[]>> {
  const [deployed, machines, quotas, events] = await Promise.all([
    deployments.list(client),
    nodes.list(client),
    client.tenants.quotas({ signal }),
    client.events({ limit: EVENTS }, { signal }),
  ])
  if (!deployed.ok) return deployed
  if (!machines.ok) return machines
  if (!quotas.ok) return quotas
  if (!events.ok) return events
  const ready = machines.value.filter(({ status }) => status === 'ready').length
  const running = deployed.value.filter(({ status }) => status.phase === 'Running').length
  const used = quotas.value.items.filter(({ used: amount }) => amount > 0)
  return {
    ok: true,
    value: [
      `${running} of ${deployed.value.length} deployments running, ${ready} of ${machines.value.length} nodes ready`,
      ...(used.length === 0
        ? []
        : [used.map(({ kind, used: amount, limit }) => `${kind} ${amount}/${limit}`).join('  ')]),
      '',
      ...tableLines(deployments.columns, deployed.value, { nowMs }),
      '',
      ...tableLines(nodes.columns, machines.value, { nowMs }),
      '',
      ...tableLines(EVENT_COLUMNS, events.value.items.toReversed(), { nowMs }),
    ],
  }
}
