// `holdfast volume divergences`: lists the data that former primaries of a volume keep.

import { type Client, type Result, readAll } from '@holdfast/client'
import type { Divergence, Unobserved, VolumeId } from '@holdfast/contract'
import type { OnlineCommand, OptionSpec } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { memory } from '../../print/amounts.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems, yamlText } from '../../print/output.ts'
import { plain } from '../../print/plain.ts'
import { print, report } from '../../terminal/terminal.ts'
import { VOLUME_ARGUMENT, volumeName } from '../../volume-command.ts'

export const EPOCH_ARGUMENT = { name: 'epoch', summary: 'epoch of the data, as listed' } as const

/** The node that keeps the data, if several keep data of one epoch. */
export const NODE_OPTION: OptionSpec = {
  flags: '--node <node>',
  summary: 'the node that keeps the data; needed only if several do',
}

/** The typed epoch; undefined if it is no number. */
export const epochOf = (typed = ''): number | undefined =>
  /^\d{1,15}$/.test(typed) ? Number(typed) : undefined

const divergences: Printed<Divergence> = {
  kind: 'divergence',
  nameOf: ({ epoch, nodeName }) => `${epoch}/${nodeName}`,
  columns: [
    { header: 'EPOCH', value: ({ epoch }) => String(epoch) },
    { header: 'NODE', value: ({ nodeName }) => nodeName },
    { header: 'SIZE', value: ({ bytes }) => (bytes === null ? 'unknown' : memory(bytes)) },
    { header: 'KEPT FOR', drop: 1, value: ({ keptSince }, nowMs) => age(keptSince, nowMs) },
    { header: 'KEPT UNTIL', drop: 2, value: ({ keptUntil }) => keptUntil.replace(/\.\d+Z$/, 'Z') },
    {
      header: 'AVAILABLE',
      value: ({ unavailable }) => (unavailable === null ? 'yes' : `no: ${unavailable.message}`),
      tint: ({ unavailable }) => (unavailable === null ? undefined : 'yellow'),
    },
  ],
}

export const volumeDivergences: OnlineCommand = {
  name: 'volume divergences',
  summary: 'list data that former primaries of a volume keep',
  details:
    'After a promotion, the machine of the former primary keeps the writes that it never sent. They are never mixed with the current data.\nThe machine keeps them for at least seven days. Nodes that could not be observed are listed on stderr: they may keep data too.',
  args: [VOLUME_ARGUMENT],
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast volume divergences data', 'Lists what each node keeps, and whether it can be downloaded now.'],
  ],
  online: true,
  async run({ terminal, args, text }, client) {
    const { findVolume } = await import('../../resources/find-volume.ts')
    const found = await findVolume(client, volumeName(args[0]))
    if (!found.ok) return printFailure(terminal, found.failure)
    const listed = await listAll(client, found.value.id)
    if (!listed.ok) return printFailure(terminal, listed.failure)
    const { items, unobserved } = listed.value
    const form = text('output')
    if (form === 'json') print(terminal, JSON.stringify(listed.value, null, 2))
    else if (form === 'yaml') terminal.out(await yamlText(listed.value))
    // An empty list with nodes that could not be observed does not mean that there are no divergences.
    else if (items.length > 0 || unobserved.length === 0) await printItems(terminal, form, divergences, items)
    for (const { message } of unobserved) report(terminal, `not observed: ${plain(message)}`)
    return EXIT.ok
  },
}

async function listAll(
  client: Client,
  id: VolumeId,
): Promise<Result<{ items: readonly Divergence[]; unobserved: readonly Unobserved[] }>> {
  let unobserved: readonly Unobserved[] = []
  const items = await readAll(async (page) => {
    const read = await client.volumes.divergences.list(id, page)
    if (read.ok) unobserved = read.value.unobserved
    return read
  })
  return items.ok ? { ok: true, value: { items: items.value, unobserved } } : items
}
