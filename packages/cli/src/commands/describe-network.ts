// `holdfast describe network`: the state of a network, the workloads on it, and its latest events.

import type { Client } from '@holdfast/client'
import type { Network } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { age } from '../print/age.ts'
import { indented, outArea, type PrintArea } from '../print/area.ts'
import { paintState } from '../print/color.ts'
import { printFailure } from '../print/failure.ts'
import { networkMeaning, networkPhase } from '../print/network.ts'
import { factLines, section } from '../print/sections.ts'
import { tableLines } from '../print/table.ts'
import { DESCRIBED_EVENT_COLUMNS } from '../resources/events.ts'
import { findNetwork } from '../resources/find-network.ts'
import type { Terminal } from '../terminal/terminal.ts'

export async function describeNetwork(
  terminal: Terminal,
  client: Client,
  { name, events: limit }: { readonly name: string; readonly events: number },
): Promise<ExitCode> {
  const found = await findNetwork(client, name)
  if (!found.ok) return printFailure(terminal, found.failure)
  const events = await client.pastEvents({ subject: found.value.name, limit })
  if (!events.ok) return printFailure(terminal, events.failure)
  const area = outArea(terminal)
  // A deployment may have the same name as the network.
  const own = events.value.items.filter(({ subject }) => subject.kind === 'Network')
  const options = { nowMs: terminal.now(), ...indented(area, 2), header: false }
  const lines = [
    ...headLines(found.value, terminal.now(), area),
    ...section('Events', own.length === 0 ? [] : tableLines(DESCRIBED_EVENT_COLUMNS, own, options), area),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  return EXIT.ok
}

function headLines(network: Network, nowMs: number, area: PrintArea): string[] {
  const { name, id, driver, internal, labels, nodeName, phase, attached, createdAt } = network
  const facts: [name: string, value: string][] = [
    ['Name', name],
    ['Phase', networkPhase(network)],
    ['Meaning', networkMeaning(network)],
    ['Node', nodeName],
    ['Driver', driver],
    ['Internal', internal ? 'yes, it has no way out' : 'no'],
    [
      'Labels',
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(', '),
    ],
    ['Attached', attached.join(', ') || 'nothing'],
    ['Created', `${createdAt} (${age(createdAt, nowMs)} ago)`],
    ['Id', id],
  ]
  // Colors are added after factLines, because factLines escapes control characters and would escape the color codes too.
  return factLines(facts, area).map((line, at) =>
    at === 1 ? line.replace(phase, paintState(phase, area.colored)) : line,
  )
}
