// `holdfast describe`: the state of a deployment, the reasons for unplaced replicas, its replicas and its events.

import type { DeploymentRecord, PlacementEntry, StatusWithTimeline } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { age } from '../print/age.ts'
import { cpu, memory } from '../print/amounts.ts'
import { indented, outArea, type PrintArea } from '../print/area.ts'
import { paint, paintState } from '../print/color.ts'
import { printFailure } from '../print/failure.ts'
import { matrixLines } from '../print/matrix.ts'
import { plain } from '../print/plain.ts'
import { factLines, section } from '../print/sections.ts'
import { alignRows } from '../print/table.ts'

export const describe: OnlineCommand = {
  name: 'describe',
  summary: 'show the details of a deployment',
  details: 'If a replica has no node, the output lists every node with every reason against it.',
  args: [DEPLOYMENT_ARGUMENT],
  examples: [['holdfast describe web', 'Shows its state, its replicas and its events.']],
  online: true,
  async run({ terminal, args: [typed] }, client) {
    const name = deploymentName(typed)
    const [record, status, placements, why] = await Promise.all([
      client.deployments.read(name),
      client.deployments.status(name),
      client.deployments.placements(name),
      client.deployments.why(name),
    ])
    if (!record.ok) return printFailure(terminal, record.failure)
    if (!status.ok) return printFailure(terminal, status.failure)
    if (!placements.ok) return printFailure(terminal, placements.failure)
    if (!why.ok) return printFailure(terminal, why.failure)
    const nowMs = terminal.now()
    const area = outArea(terminal)
    const indentedArea = indented(area, 2)
    const lines = [
      ...headLines(record.value, nowMs, area),
      ...section(
        'Replicas without a node',
        hasUnplaced(record.value) ? matrixLines(why.value, indentedArea) : [],
        area,
      ),
      ...section('Replicas', replicaLines(placements.value.items, nowMs, indentedArea), area),
      ...section('Events', timelineLines(record.value.name, status.value, nowMs, indentedArea), area),
    ]
    terminal.out(`${lines.join('\n')}\n`)
    return EXIT.ok
  },
}

const hasUnplaced = ({ status: { replicas } }: DeploymentRecord): boolean =>
  replicas.placed < replicas.desired

function headLines(record: DeploymentRecord, nowMs: number, area: PrintArea): string[] {
  const { name, uid, status, image, revision, createdAt, resources, routes = [] } = record
  const { secrets = [], dependsOn = {} } = record
  const { phase, reason, message, replicas, runningRevision } = status
  const facts: [name: string, value: string][] = [
    ['Name', name],
    ['Phase', reason === '' ? phase : `${phase} (${reason})`],
    ['Message', message],
    ['Replicas', `${replicas.ready} ready, ${replicas.placed} placed, ${replicas.desired} desired`],
    [
      'Revision',
      runningRevision === revision
        ? `${revision}`
        : `${revision} (running: ${runningRevision === null ? 'none' : runningRevision})`,
    ],
    ['Image', image],
    ['Digest', status.image.digest ?? ''],
    ['Requests', `cpu ${cpu(resources.cpuMillis)}, memory ${memory(resources.memoryBytes)}`],
    ['Routes', routes.map(({ host, path, port }) => `${host}${path} -> ${port}`).join(', ')],
    ['Secrets', secrets.map((each) => `${each.name} from ${each.vault_path}`).join(', ')],
    [
      'Depends on',
      Object.entries(dependsOn)
        .map(([other, condition]) => `${other} (${condition})`)
        .join(', '),
    ],
    ['Created', `${createdAt} (${age(createdAt, nowMs)} ago)`],
    ['Uid', uid],
  ]
  const lines = factLines(facts, area)
  // Colors are added after factLines, because factLines escapes control characters and would escape the color codes too.
  return lines.map((line, at) => (at === 1 ? line.replace(phase, paintState(phase, area.colored)) : line))
}

function replicaLines(items: readonly PlacementEntry[], nowMs: number, { colored }: PrintArea): string[] {
  if (items.length === 0) return []
  const rows = items.map(({ replica, nodeName, state, revision, startedAt, containerId }) => [
    `${replica}`,
    plain(nodeName),
    paintState(state, colored),
    `${revision}`,
    age(startedAt, nowMs),
    plain(containerId?.slice(0, 12) ?? '-'),
  ])
  const heads = ['REPLICA', 'NODE', 'STATE', 'REVISION', 'UP', 'CONTAINER']
  return alignRows([heads.map((head) => paint(head, 'gray', colored)), ...rows])
}

function timelineLines(
  name: string,
  { timeline, earlierCursor }: StatusWithTimeline,
  nowMs: number,
  { columns }: PrintArea,
): string[] {
  const lines = alignRows(
    timeline.map(({ lastSeen, type, count, message }) => [
      `${age(lastSeen, nowMs)} ago`,
      plain(type),
      plain(count > 1 ? `${message} (${count} times)` : message),
    ]),
    columns,
  )
  return earlierCursor === undefined
    ? lines
    : [...lines, `older events: holdfast events --subject ${plain(name)} --limit 500`]
}
