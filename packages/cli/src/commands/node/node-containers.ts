// `holdfast node containers`: lists all containers on a machine, including those not managed by the platform.

import type { MachineContainer } from '@holdfast/contract'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { NODE_ARGUMENT } from '../../node-command.ts'
import { age } from '../../print/age.ts'
import { shortImage } from '../../print/amounts.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'

const CONTAINERS: Printed<MachineContainer> = {
  kind: 'container',
  nameOf: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'STATE', value: ({ state }) => state },
    { header: 'MANAGED', drop: 1, value: ({ ours }) => (ours ? 'yes' : 'no') },
    { header: 'UP', value: ({ startedAt }, nowMs) => age(startedAt, nowMs) },
    { header: 'IMAGE', value: ({ image }) => image, short: ({ image }) => shortImage(image) },
    { header: 'ID', wide: true, value: ({ id }) => id },
  ],
}

export const nodeContainers: OnlineCommand = {
  name: 'node containers',
  aliases: ['node ps'],
  summary: 'list all containers on a node, including unmanaged ones',
  args: [NODE_ARGUMENT],
  options: [OUTPUT_OPTION],
  examples: [['holdfast node containers n1', 'Lists the containers as the machine reports them now.']],
  online: true,
  async run({ terminal, args: [typed = ''], text }, client) {
    const { findNode } = await import('../../resources/find-node.ts')
    const node = await findNode(client, typed.replace(/^node\//, ''))
    const listed = node.ok ? await client.nodes.containers(node.value.id) : node
    if (!listed.ok) return printFailure(terminal, listed.failure)
    await printItems(terminal, text('output'), CONTAINERS, listed.value.items)
    return EXIT.ok
  },
}
