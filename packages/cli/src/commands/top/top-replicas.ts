// `holdfast top replicas`: lists how much each replica uses.

import { readAll } from '@holdfast/client'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { replicaText } from '../../print/containers.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'
import {
  byCpu,
  bytes,
  millis,
  perSecond,
  type ReplicaRow,
  readDeployments,
  replicaRows,
} from './usage-rows.ts'

export const REPLICAS: Printed<ReplicaRow> = {
  kind: 'replica',
  nameOf: ({ deployment, replica, revision, canary }) =>
    `${deployment}/${replica}/${revision}${canary ? '/canary' : ''}`,
  columns: [
    { header: 'DEPLOYMENT', value: ({ deployment }) => deployment },
    { header: 'REPLICA', value: replicaText },
    { header: 'NODE', drop: 4, value: ({ node }) => node },
    { header: 'READY', drop: 3, value: ({ ready }) => (ready ? 'yes' : 'no') },
    { header: 'CPU', value: ({ cpuMillis }) => millis(cpuMillis) },
    { header: 'THROTTLED', drop: 2, value: ({ throttledPercent }) => percentOf(throttledPercent) },
    { header: 'MEMORY', value: ({ memoryBytes }) => bytes(memoryBytes) },
    { header: 'RECEIVED', drop: 1, value: ({ rx }) => perSecond(rx) },
    { header: 'SENT', drop: 1, value: ({ tx }) => perSecond(tx) },
    { header: 'PIDS', wide: true, value: ({ pids }) => (pids === null ? '' : String(pids)) },
  ],
}

const percentOf = (value: number | null): string => (value === null ? '' : `${value}%`)

export const topReplicas: OnlineCommand = {
  name: 'top replicas',
  aliases: ['top replica', 'top pods', 'top containers'],
  summary: 'list how much CPU, memory and network each replica uses',
  details: 'CPU and memory are means of the last minute. A replica without samples has no values.',
  args: [{ ...DEPLOYMENT_ARGUMENT, optional: true }],
  options: [OUTPUT_OPTION],
  examples: [
    [
      'holdfast top replicas',
      'Lists the replicas of all deployments, the one with the highest CPU usage first.',
    ],
    ['holdfast top replicas web -o json', 'Prints the replicas of web as JSON.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const listed = typed === undefined ? await readAll((page) => client.deployments.list(page)) : undefined
    if (listed?.ok === false) return printFailure(terminal, listed.failure)
    const found = typed === undefined ? undefined : await client.deployments.read(deploymentName(typed))
    if (found?.ok === false) return printFailure(terminal, found.failure)
    const names = found === undefined ? (listed?.value ?? []).map(({ name }) => name) : [found.value.name]
    const read = await readDeployments(client, names)
    if (!read.ok) return printFailure(terminal, read.failure)
    const rows = byCpu(read.value.flatMap(([, metrics]) => replicaRows(metrics)))
    await printItems(terminal, text('output'), REPLICAS, rows)
    return EXIT.ok
  },
}
