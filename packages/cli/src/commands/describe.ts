// `holdfast describe`: the state of a deployment, the reasons for unplaced replicas, its replicas and its events.

import type {
  DeploymentRecord,
  FailingContainer,
  PlacementEntry,
  StatusWithTimeline,
  Why,
} from '@holdfast/contract'
import { PAGE_SIZE } from '../args/forms.ts'
import {
  DEPLOYMENT_KINDS,
  JOB_KINDS,
  LIVE_KINDS,
  NETWORK_KINDS,
  NODE_KINDS,
  VOLUME_KINDS,
} from '../args/resource-names.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { age } from '../print/age.ts'
import { cpu, memory } from '../print/amounts.ts'
import { indented, outArea, type PrintArea } from '../print/area.ts'
import { colorOf, paintState } from '../print/color.ts'
import { lastExitText, replicaState, replicaText } from '../print/containers.ts'
import { printError, printFailure } from '../print/failure.ts'
import { matrixLines } from '../print/matrix.ts'
import { plain } from '../print/plain.ts'
import { scalingText } from '../print/scaling.ts'
import { factLines, section } from '../print/sections.ts'
import { alignRows, type Column, tableLines } from '../print/table.ts'

export const describe: OnlineCommand = {
  name: 'describe',
  aliases: ['inspect'],
  summary: 'show the details of a deployment, a node, a volume, a network or a job',
  details:
    'If a container has failed, the replicas show their restarts and last exits. If a replica has no node, the output lists every node with every reason against it.',
  args: [
    {
      name: 'deployment',
      summary: 'name of the deployment, or a kind: deployment, node, volume, network or job',
      completes: 'deployments',
    },
    {
      name: 'name',
      summary: 'name after a kind',
      optional: true,
      completes: ([kind = '']) => LIVE_KINDS[kind],
    },
  ],
  options: [
    { flags: '--events <number>', summary: 'number of latest events (default: 10)', form: PAGE_SIZE },
  ],
  examples: [
    ['holdfast describe web', 'Shows its state, its replicas and its latest events.'],
    ['holdfast describe node n1', 'Shows a node with its labels, replicas and events.'],
    ['holdfast describe network backend', 'Shows a network with its node and the deployments on it.'],
    ['holdfast describe volume data', 'Shows a volume with its copies, its use and its consumers.'],
  ],
  online: true,
  async run({ terminal, args, text }, client) {
    const { kind, name } = typedName(args)
    const events = Number(text('events') ?? EVENTS)
    if (NODE_KINDS.includes(kind)) {
      const { describeNode } = await import('./describe-node.ts')
      return describeNode(terminal, client, { name, events })
    }
    if (VOLUME_KINDS.includes(kind)) {
      const { describeVolume } = await import('./describe-volume.ts')
      return describeVolume(terminal, client, { name, events })
    }
    if (NETWORK_KINDS.includes(kind)) {
      const { describeNetwork } = await import('./describe-network.ts')
      return describeNetwork(terminal, client, { name, events })
    }
    if (JOB_KINDS.includes(kind)) {
      const { describeJob } = await import('./job/describe-job.ts')
      return describeJob(terminal, client, { name, events })
    }
    if (!DEPLOYMENT_KINDS.includes(kind)) {
      printError(
        terminal,
        `describe shows deployments, nodes, volumes, networks and jobs; for others: holdfast get ${kind} ${name} -o yaml`,
      )
      return EXIT.usage
    }
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
    const { containers = [] } = why.value
    const nowMs = terminal.now()
    const area = outArea(terminal)
    const indentedArea = indented(area, 2)
    const lines = [
      ...headLines(record.value, why.value, nowMs, area),
      ...section(
        'Replicas without a node',
        hasUnplaced(record.value) ? matrixLines(why.value, indentedArea) : [],
        area,
      ),
      ...section('Replicas', replicaLines(placements.value.items, containers, nowMs, indentedArea), area),
      ...section('Events', timelineLines(record.value.name, status.value, events, nowMs, indentedArea), area),
    ]
    terminal.out(`${lines.join('\n')}\n`)
    return EXIT.ok
  },
}

const EVENTS = 10

/** The kind and name of `describe web`, `describe node n1`, `describe deployment/web` or `describe node/n1`. */
function typedName([first = '', second]: readonly string[]): {
  readonly kind: string
  readonly name: string
} {
  if (second !== undefined) return { kind: first, name: second }
  const slash = first.indexOf('/')
  return slash < 0
    ? { kind: 'deployment', name: first }
    : { kind: first.slice(0, slash), name: first.slice(slash + 1) }
}

/** The reasons of a deployment whose newest revision failed while an earlier one runs. */
const FAILED_REASONS: ReadonlySet<string> = new Set(['update_paused', 'rollback'])

const hasUnplaced = ({ status: { replicas } }: DeploymentRecord): boolean =>
  replicas.placed < replicas.desired

function headLines(record: DeploymentRecord, { scaling }: Why, nowMs: number, area: PrintArea): string[] {
  const { name, uid, status, image, createdAt, resources, routes = [] } = record
  const { secrets = [], dependsOn = {} } = record
  const { phase, reason, message, replicas } = status
  const facts: [name: string, value: string][] = [
    ['Name', name],
    ['Phase', reason === '' ? phase : `${phase} (${reason})`],
    ['Message', message],
    ['Replicas', `${replicas.desired} desired, ${replicas.placed} placed, ${replicas.ready} ready`],
    ['Scaling', scaling === undefined ? '' : scalingText(scaling)],
    ['Revision', revisionText(record)],
    ['Canary', canaryFact(record)],
    ['Image', image],
    ['Digest', shortDigest(status.image.digest ?? '', area)],
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

/** The revision, and which one runs if it is another one: `3 (failed; 2 is running)`. */
function revisionText({ revision, status: { reason, runningRevision } }: DeploymentRecord): string {
  if (runningRevision === revision) return `${revision}`
  const running = runningRevision === null ? 'none is running' : `${runningRevision} is running`
  return `${revision} (${FAILED_REASONS.has(reason) ? `failed; ${running}` : running})`
}

/** The phase of the canary, and the command that shows the rest; empty without one. */
function canaryFact({ name, canary }: DeploymentRecord): string {
  if (canary === undefined) return ''
  const { phase, reason, weight } = canary
  const why = reason === '' ? '' : ` (${reason})`
  return `${phase}${why}, ${weight} % of the requests; holdfast rollout canary status ${name}`
}

/** A whole digest cannot be wrapped, so a narrow terminal gets its beginning; `-o json` has all of it. */
const shortDigest = (digest: string, { columns }: PrintArea): string =>
  columns < DIGEST_COLUMNS ? digest.slice(0, 'sha256:'.length + 12) : digest
const DIGEST_COLUMNS = 84

function replicaLines(
  items: readonly PlacementEntry[],
  failing: readonly FailingContainer[],
  nowMs: number,
  { columns, colored }: PrintArea,
): string[] {
  if (items.length === 0) return []
  const hasFailed = items.some(({ restarts = 0, reason, lastExit }) => restarts > 0 || reason || lastExit)
  const shown = hasFailed ? [...REPLICA_COLUMNS, ...failureColumns(failing)] : REPLICA_COLUMNS
  return tableLines(shown, items, { nowMs, columns, colored })
}

const REPLICA_COLUMNS: readonly Column<PlacementEntry>[] = [
  { header: 'REPLICA', value: replicaText },
  { header: 'NODE', value: ({ nodeName }) => nodeName },
  { header: 'STATE', value: replicaState, tint: (item) => colorOf(replicaState(item)) },
  { header: 'REVISION', drop: 2, value: ({ revision }) => String(revision) },
  { header: 'UP', drop: 3, value: ({ startedAt }, nowMs) => age(startedAt, nowMs) },
  { header: 'CONTAINER', drop: 1, value: ({ containerId }) => containerId?.slice(0, 12) ?? '' },
]

/** Columns for replicas with a container that has failed. */
const failureColumns = (failing: readonly FailingContainer[]): Column<PlacementEntry>[] => [
  { header: 'RESTARTS', value: ({ restarts = 0 }) => String(restarts) },
  { header: 'LAST EXIT', value: (entry, nowMs) => lastExitText(entry, failing, nowMs) },
]

function timelineLines(
  name: string,
  { timeline, earlierCursor }: StatusWithTimeline,
  most: number,
  nowMs: number,
  { columns }: PrintArea,
): string[] {
  const lines = alignRows(
    timeline
      .slice(0, most)
      .map(({ lastSeen, type, count, message }) => [
        `${age(lastSeen, nowMs)} ago`,
        plain(type),
        plain(count > 1 ? `${message} (${count} times)` : message),
      ]),
    columns,
  )
  return earlierCursor === undefined && timeline.length <= most
    ? lines
    : [...lines, `older events: holdfast events --subject ${plain(name)} --limit 500`]
}
