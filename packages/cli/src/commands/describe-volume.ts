// `holdfast describe volume`: the state of a volume, its copies, the nodes that refuse it, and its latest events.

import type { Client } from '@holdfast/client'
import type { Volume } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { age } from '../print/age.ts'
import { memory } from '../print/amounts.ts'
import { indented, outArea, type PrintArea } from '../print/area.ts'
import { colorOf, paintState } from '../print/color.ts'
import { printFailure } from '../print/failure.ts'
import { matrixLines } from '../print/matrix.ts'
import { plain } from '../print/plain.ts'
import { factLines, section } from '../print/sections.ts'
import { type Column, hang, tableLines } from '../print/table.ts'
import { nextStep, PLACE_IT, phaseMeaning, phaseText, residencyText, usageText } from '../print/volume.ts'
import { DESCRIBED_EVENT_COLUMNS } from '../resources/events.ts'
import { findVolume } from '../resources/find-volume.ts'
import type { Terminal } from '../terminal/terminal.ts'

export async function describeVolume(
  terminal: Terminal,
  client: Client,
  { name, events: limit }: { readonly name: string; readonly events: number },
): Promise<ExitCode> {
  const found = await findVolume(client, name)
  if (!found.ok) return printFailure(terminal, found.failure)
  const { id } = found.value
  const [read, why, events] = await Promise.all([
    client.volumes.read(id),
    lacksCopies(found.value) ? client.volumes.why(id) : undefined,
    client.pastEvents({ subject: found.value.name, limit }),
  ])
  if (!read.ok) return printFailure(terminal, read.failure)
  if (why?.ok === false) return printFailure(terminal, why.failure)
  if (!events.ok) return printFailure(terminal, events.failure)
  const area = outArea(terminal)
  const inner = indented(area, 2)
  const options = { nowMs: terminal.now(), ...inner }
  const volume = read.value
  // A deployment may have the same name as the volume.
  const own = events.value.items.filter(({ subject }) => subject.kind === 'Volume')
  const lines = [
    ...headLines(volume, terminal.now(), area),
    ...section(
      'Copies',
      volume.copies.length === 0 ? [] : tableLines(COPY_COLUMNS, volume.copies, options),
      area,
    ),
    ...section(
      'Promotions',
      volume.promotions.length === 0 ? [] : tableLines(PROMOTION_COLUMNS, volume.promotions, options),
      area,
    ),
    ...section(
      'Nodes for a missing copy',
      why === undefined ? [] : matrixLines({ ...why.value, goal: PLACE_IT }, inner),
      area,
    ),
    ...section(
      'Events',
      own.length === 0 ? [] : tableLines(DESCRIBED_EVENT_COLUMNS, own, { ...options, header: false }),
      area,
    ),
    ...nextLines(volume, area),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  return EXIT.ok
}

const lacksCopies = ({ class: kind, copies, replicas }: Volume): boolean =>
  kind !== 'object' && copies.length < 1 + replicas

function headLines(volume: Volume, nowMs: number, area: PrintArea): string[] {
  const { name, id, phase, primary, replicas, copies, fencedSince, consumers, createdAt } = volume
  const existing = copies.filter(({ role }) => role === 'replica').length
  const facts: [name: string, value: string][] = [
    ['Name', name],
    ['Phase', phaseText(volume)],
    ['Meaning', phaseMeaning(volume)],
    ['Class', volume.class],
    ['Size', memory(volume.sizeBytes)],
    ['In use', usageText(volume, nowMs)],
    [
      'Primary',
      primary === null ? '' : `${primary.nodeName}, epoch ${primary.epoch}, for ${age(primary.since, nowMs)}`,
    ],
    ['Replicas', volume.class === 'replicated' ? `${replicas} desired, ${existing} placed` : ''],
    ['Residency', residencyText(volume)],
    ['Fenced', fencedSince === null ? '' : `for ${age(fencedSince, nowMs)}: no container may write`],
    ['Outlook', volume.ifPrimaryDies?.message ?? ''],
    ['Mounted by', consumers.join(', ') || 'nothing'],
    ['Created', `${createdAt} (${age(createdAt, nowMs)} ago)`],
    ['Id', id],
  ]
  // Colors are added after factLines, because factLines escapes control characters and would escape the color codes too.
  return factLines(facts, area).map((line, at) =>
    at === 1 ? line.replace(phase, paintState(phase, area.colored)) : line,
  )
}

type Copy = Volume['copies'][number]

const COPY_COLUMNS: readonly Column<Copy>[] = [
  { header: 'NODE', value: ({ nodeName }) => nodeName },
  { header: 'ROLE', value: ({ role }) => role },
  { header: 'STATE', value: ({ state }) => state, tint: ({ state }) => colorOf(state) },
  { header: 'CHECKPOINT', drop: 1, value: ({ checkpoint }) => String(checkpoint ?? 'unknown') },
  { header: 'BEHIND', value: behindText },
  {
    header: 'PROMOTABLE',
    drop: 2,
    value: promotableText,
  },
]

/** `yes`, or what the copy has instead. A copy whose promise has expired would vote for another primary. */
function promotableText({ promotable, promise, role }: Copy): string {
  if (role === 'primary') return ''
  if (!promotable) return 'no'
  return promise === 'expired' ? 'yes, promise expired' : 'yes'
}

const PROMOTION_COLUMNS: readonly Column<Volume['promotions'][number]>[] = [
  { header: 'AGE', value: ({ at }, nowMs) => age(at, nowMs) },
  { header: 'EPOCH', value: ({ toEpoch }) => String(toEpoch) },
  { header: 'FROM', value: ({ fromName }) => fromName },
  { header: 'TO', value: ({ toName }) => toName },
  { header: 'CAUSE', drop: 1, value: ({ cause }) => cause },
  {
    header: 'LOST',
    value: ({ lossMs }) => (lossMs === null ? 'unknown' : `at most ${Math.ceil(lossMs / 1_000)}s`),
  },
]

/** How old the last complete checkpoint of a copy is. The primary has the live data. */
function behindText({ role, checkpointAge }: Copy): string {
  if (role === 'primary') return ''
  return checkpointAge === null ? 'unknown' : `${checkpointAge}s`
}

function nextLines(volume: Volume, area: PrintArea): string[] {
  const next = nextStep(volume)
  return next === undefined ? [] : ['', ...hang('next: ', plain(next), area.columns)]
}
