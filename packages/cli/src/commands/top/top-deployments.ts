// `holdfast top deployments`: lists how much each deployment uses.

import { readAll } from '@holdfast/client'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'
import { byCpu, bytes, type DeploymentRow, deploymentRow, millis, readDeployments } from './usage-rows.ts'

const DEPLOYMENTS: Printed<DeploymentRow> = {
  kind: 'deployment',
  nameOf: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'MEASURED', drop: 1, value: ({ measured, ready }) => `${measured}/${ready}` },
    { header: 'CPU', value: ({ cpuMillis }) => millis(cpuMillis) },
    { header: 'MEMORY', value: ({ memoryBytes }) => bytes(memoryBytes) },
    { header: 'CPU/REPLICA', value: ({ cpuMillisPerReplica }) => millis(cpuMillisPerReplica) },
    { header: 'MEMORY/REPLICA', value: ({ memoryBytesPerReplica }) => bytes(memoryBytesPerReplica) },
  ],
}

export const topDeployments: OnlineCommand = {
  name: 'top deployments',
  aliases: ['top deployment', 'top deploy'],
  summary: 'list how much CPU and memory each deployment uses',
  details:
    'Values are means of the last minute: the sum of all replicas, and the mean per ready replica. MEASURED is the number of ready replicas with samples.',
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast top deployments', 'Lists the deployments, the one with the highest CPU usage first.'],
  ],
  online: true,
  async run({ terminal, text }, client) {
    const listed = await readAll((page) => client.deployments.list(page))
    const names = listed.ok ? listed.value.map(({ name }) => name) : []
    const read = listed.ok ? await readDeployments(client, names) : listed
    if (!read.ok) return printFailure(terminal, read.failure)
    const rows = byCpu(read.value.map(([name, metrics]) => deploymentRow(name, metrics)))
    await printItems(terminal, text('output'), DEPLOYMENTS, rows)
    return EXIT.ok
  },
}
