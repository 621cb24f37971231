// `holdfast describe node`: the state of a node, its labels, the replicas on it and its latest events.

import type { Client } from '@holdfast/client'
import type { Node } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { cpu, memory } from '../print/amounts.ts'
import { indented, outArea, type PrintArea } from '../print/area.ts'
import { diskText } from '../print/disk.ts'
import { printFailure } from '../print/failure.ts'
import { plain } from '../print/plain.ts'
import { factLines, section } from '../print/sections.ts'
import { hang, tableLines } from '../print/table.ts'
import { DESCRIBED_EVENT_COLUMNS } from '../resources/events.ts'
import { findNode } from '../resources/find-node.ts'
import { agentText, holdText, labelText, statusText, storageText, workOf } from '../resources/nodes.ts'
import { replicas } from '../resources/replicas.ts'
import type { Terminal } from '../terminal/terminal.ts'

const REPLICA_COLUMNS = replicas.columns.filter(({ header }) => header !== 'NODE')

export async function describeNode(
  terminal: Terminal,
  client: Client,
  { name, events: limit }: { readonly name: string; readonly events: number },
): Promise<ExitCode> {
  const node = await findNode(client, name)
  if (!node.ok) return printFailure(terminal, node.failure)
  const [listed, events] = await Promise.all([
    replicas.list(client),
    client.pastEvents({ subject: node.value.name, limit }),
  ])
  if (!listed.ok) return printFailure(terminal, listed.failure)
  if (!events.ok) return printFailure(terminal, events.failure)
  const own = listed.value.filter(({ nodeId }) => nodeId === node.value.id)
  const area = outArea(terminal)
  const options = { nowMs: terminal.now(), ...indented(area, 2) }
  const lines = [
    ...factLines(factsOf(node.value, own.length), area),
    ...section('Drain waits for', waitLines(node.value, area), area),
    ...section('Replicas', own.length === 0 ? [] : tableLines(REPLICA_COLUMNS, own, options), area),
    ...section(
      'Events',
      events.value.items.length === 0
        ? []
        : tableLines(DESCRIBED_EVENT_COLUMNS, events.value.items, { ...options, header: false }),
      area,
    ),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  return EXIT.ok
}

const waitLines = ({ drainBlockedBy = [] }: Node, area: PrintArea): string[] =>
  drainBlockedBy.flatMap((reason) => hang('', plain(reason), indented(area, 2).columns))

function factsOf(node: Node, running: number): (readonly [name: string, value: string])[] {
  const { name, id, capacity, engine, labels } = node
  return [
    ['Name', name],
    ['Status', statusText(node)],
    ['New replicas', workOf(node)],
    ['Hold', holdText(node)],
    ['Replicas', String(running)],
    ['Capacity', `cpu ${cpu(capacity.cpuMillis)}, memory ${memory(capacity.memoryBytes)}`],
    ['Disk', diskText(node)],
    ['Storage', storageText(node)],
    ['Engine', engine.version],
    ['Agent', agentText(node)],
    ['Labels', labelText(labels)],
    ['Id', id],
  ]
}
