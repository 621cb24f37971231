// `holdfast top nodes`: lists how much each machine uses.

import { readAll } from '@holdfast/client'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'
import { byCpu, bytes, millis, type NodeRow, nodeRow, percent, readEach, SINCE } from './usage-rows.ts'

const NODES: Printed<NodeRow> = {
  kind: 'node',
  nameOf: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'CPU', value: ({ cpuMillis }) => millis(cpuMillis) },
    { header: 'CPU%', value: ({ cpuMillis, cpuCapacityMillis }) => percent(cpuMillis, cpuCapacityMillis) },
    { header: 'MEMORY', value: ({ memoryBytes }) => bytes(memoryBytes) },
    {
      header: 'MEMORY%',
      value: ({ memoryBytes, memoryCapacityBytes }) => percent(memoryBytes, memoryCapacityBytes),
    },
    {
      header: 'LOAD',
      drop: 2,
      value: ({ loadMillis }) => (loadMillis === null ? '' : (loadMillis / 1000).toFixed(2)),
    },
    { header: 'DISK%', drop: 1, value: ({ diskUsedBytes, diskBytes }) => percent(diskUsedBytes, diskBytes) },
    { header: 'UNREAD', wide: true, value: ({ unread }) => (unread === null ? '' : String(unread)) },
  ],
}

export const topNodes: OnlineCommand = {
  name: 'top nodes',
  aliases: ['top node', 'node top'],
  summary: 'list how much CPU, memory and disk each node uses',
  details:
    'CPU and memory are means of the last minute, for the whole machine and in percent of the capacity that the node offers. A node without samples has no values.',
  options: [OUTPUT_OPTION],
  examples: [['holdfast top nodes', 'Lists the nodes, the one with the highest CPU usage first.']],
  online: true,
  async run({ terminal, text }, client) {
    const nodes = await readAll((page) => client.nodes.list(page))
    const read = nodes.ok ? await readEach(nodes.value, ({ id }) => client.nodes.metrics(id, SINCE)) : nodes
    if (!read.ok) return printFailure(terminal, read.failure)
    const rows = byCpu(read.value.map(([node, metrics]) => nodeRow(node, metrics)))
    await printItems(terminal, text('output'), NODES, rows)
    return EXIT.ok
  },
}
