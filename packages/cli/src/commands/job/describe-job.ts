// `holdfast describe job`: the state of a job, how it ended, and its latest events.

import type { Client } from '@holdfast/client'
import type { JobRecord } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { cpu, memory } from '../../print/amounts.ts'
import { indented, outArea, type PrintArea } from '../../print/area.ts'
import { paintState } from '../../print/color.ts'
import { printFailure } from '../../print/failure.ts'
import { attemptsText, durationText, jobPhase } from '../../print/job.ts'
import { matrixLines } from '../../print/matrix.ts'
import { factLines, section } from '../../print/sections.ts'
import { tableLines } from '../../print/table.ts'
import { DESCRIBED_EVENT_COLUMNS } from '../../resources/events.ts'
import { findJob } from '../../resources/find-job.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export async function describeJob(
  terminal: Terminal,
  client: Client,
  { name, events: limit }: { readonly name: string; readonly events: number },
): Promise<ExitCode> {
  const found = await findJob(client, name)
  if (!found.ok) return printFailure(terminal, found.failure)
  const why = isUnplaced(found.value) ? await client.jobs.why(found.value.id) : undefined
  if (why?.ok === false) return printFailure(terminal, why.failure)
  const events = await client.pastEvents({ subject: found.value.id, limit })
  if (!events.ok) return printFailure(terminal, events.failure)
  const area = outArea(terminal)
  const { items } = events.value
  const options = { nowMs: terminal.now(), ...indented(area, 2), header: false }
  const lines = [
    ...headLines(found.value, terminal.now(), area),
    ...section('Nodes', why === undefined ? [] : matrixLines(why.value, indented(area, 2)), area),
    ...section('Events', items.length === 0 ? [] : tableLines(DESCRIBED_EVENT_COLUMNS, items, options), area),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  return EXIT.ok
}

/** Whether no node accepts the next attempt. */
const isUnplaced = ({ status: { phase, reason } }: JobRecord): boolean =>
  phase === 'pending' && reason === 'unschedulable'

function headLines(job: JobRecord, nowMs: number, area: PrintArea): string[] {
  const { phase } = job.status
  // Colors are added after factLines, because factLines escapes control characters and would escape the color codes too.
  return factLines([...stateFacts(job, nowMs), ...specFacts(job)], area).map((line, at) =>
    at === 1 ? line.replace(phase, paintState(phase, area.colored)) : line,
  )
}

type Facts = readonly (readonly [name: string, value: string])[]

function stateFacts(job: JobRecord, nowMs: number): Facts {
  const { id, name, createdAt, status } = job
  const { startedAt, finishedAt, exitCode, retryAt, nodeName } = status
  const at = (time: string | null): string => (time === null ? '' : `${time} (${age(time, nowMs)} ago)`)
  return [
    ['Name', name],
    ['Phase', jobPhase(status)],
    ['Message', status.message],
    ['Exit code', exitCode === null ? '' : String(exitCode)],
    ['Node', nodeName ?? ''],
    ['Attempts', attemptsText(job)],
    ['Next attempt', retryAt ?? ''],
    ['Created', at(createdAt)],
    ['Started', at(startedAt)],
    ['Ended', at(finishedAt)],
    ['Took', startedAt === null ? '' : durationText(status, nowMs)],
    ['Id', id],
  ]
}

function specFacts({ image, command, args, resources, timeout, ...job }: JobRecord): Facts {
  const { onNodeLoss, secrets, volumes = [], networks = [] } = job
  return [
    ['Image', image],
    ['Command', [...(command ?? []), ...(args ?? [])].join(' ')],
    ['Requests', `cpu ${cpu(resources.cpuMillis)}, memory ${memory(resources.memoryBytes)}`],
    ['Secrets', secrets.map((each) => `${each.name} from ${each.vault_path}`).join(', ')],
    ['Mounts', volumes.map(mountText).join(', ')],
    ['Networks', networks.join(', ')],
    ['Timeout', timeout],
    ['On node loss', onNodeLoss],
  ]
}

const mountText = ({
  volume,
  target,
  readOnly,
}: {
  readonly volume: string
  readonly target: string
  readonly readOnly: boolean
}): string => `${volume} at ${target}${readOnly ? ' (read-only)' : ''}`
