// `--wait`: until every deployment runs as it was asked to, or will not. What counts is what the platform says.

import type { Client, Failure } from '@holdfast/client'
import type { DeploymentRecord, PlacementEntry, Why } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { errArea, indented, outArea } from '../print/area.ts'
import { paint, paintState } from '../print/color.ts'
import { printError, printFailure } from '../print/failure.ts'
import { createLive } from '../print/live.ts'
import { matrixLines } from '../print/matrix.ts'
import { plain } from '../print/plain.ts'
import { indent } from '../print/sections.ts'
import { pause } from '../terminal/pause.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'

const POLL_MS = 500
/** So long may a deployment be without a node before that counts as the answer: nodes come back. */
const UNPLACED_MS = 5_000
/** Ways in which an update has ended badly; nothing more comes by waiting. */
const ENDED_BADLY = new Set(['update_paused', 'rollback'])

export interface Awaited {
  readonly name: string
  /** Absent: whichever is the newest. */
  readonly revision?: number
}

type Verdict = 'well' | 'notReady' | 'open'

interface Look {
  readonly record: DeploymentRecord
  readonly placements: readonly PlacementEntry[]
}

export async function waitUntilReady(
  terminal: Terminal,
  client: Client,
  awaited: readonly Awaited[],
  longestMs: number,
): Promise<ExitCode> {
  const live = createLive(terminal)
  const since = new Map<string, number>()
  const end = terminal.now() + longestMs
  for (;;) {
    const looks = await lookAtAll(client, awaited)
    if ('failure' in looks) {
      if (!isAway(looks.failure) || terminal.now() >= end) return printFailure(terminal, looks.failure)
      live.show(['the platform does not answer; what was applied is stored, and is waited for'])
      if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
      continue
    }
    const other = looks.find(({ record }, at) => record.revision > (awaited[at]?.revision ?? record.revision))
    if (other !== undefined) return printOther(terminal, other)
    const { colored } = errArea(terminal)
    live.show(looks.flatMap((look) => progressLines(look, colored)))
    const verdicts = looks.map((look, at) => judge(look, awaited[at]?.revision, since, terminal.now()))
    if (verdicts.every((verdict) => verdict === 'well')) return printAllReady(terminal, looks)
    if (!verdicts.includes('open') || terminal.now() >= end)
      return explainNotReady(terminal, client, looks, verdicts)
    if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
  }
}

/** For a moment, perhaps: the control plane may die and come back, and what it acknowledged comes with it. */
const isAway = (failure: Failure): boolean =>
  failure.kind === 'unreachable' || (failure.kind === 'rejected' && failure.status === 503)

async function lookAtAll(
  client: Client,
  awaited: readonly Awaited[],
): Promise<Look[] | { readonly failure: Failure }> {
  const looks: Look[] = []
  for (const { name } of awaited) {
    const record = await client.deployments.read(name)
    if (!record.ok) return record
    const placements = await client.deployments.placements(name)
    if (!placements.ok) return placements
    looks.push({ record: record.value, placements: placements.value.items })
  }
  return looks
}

/** What was waited for comes no more. */
function printOther(terminal: Terminal, { record: { name, revision } }: Look): ExitCode {
  printError(
    terminal,
    `${name} was changed meanwhile, to revision ${revision}: holdfast rollout status ${name}`,
  )
  return EXIT.conflict
}

function judge(
  { record: { name, revision, status } }: Look,
  wanted: number | undefined,
  since: Map<string, number>,
  nowMs: number,
): Verdict {
  const { phase, reason, replicas, runningRevision } = status
  const isStopped = phase === 'Stopped' && replicas.desired === 0
  const isCurrent = runningRevision === (wanted ?? revision)
  if (isStopped || (phase === 'Running' && replicas.ready >= replicas.desired && isCurrent)) return 'well'
  if (phase === 'Degraded' && ENDED_BADLY.has(reason)) return 'notReady'
  if (replicas.placed >= replicas.desired || phase === 'Progressing') since.delete(name)
  else if (!since.has(name)) since.set(name, nowMs)
  return nowMs - (since.get(name) ?? nowMs) >= UNPLACED_MS ? 'notReady' : 'open'
}

function progressLines({ record: { name, status }, placements }: Look, colored: boolean): string[] {
  const { phase, reason, replicas } = status
  const because = reason === '' ? '' : ` (${plain(reason)})`
  return [
    `${name}: ${paintState(phase, colored)}${because}, ${replicas.ready} of ${replicas.desired} ready`,
    ...placements.map(
      ({ replica, nodeName, state, revision }) =>
        `  ${name} replica ${replica} on ${plain(nodeName)}: ${paintState(state, colored)}, revision ${revision}`,
    ),
  ]
}

function printAllReady(terminal: Terminal, looks: readonly Look[]): ExitCode {
  for (const { record } of looks)
    print(
      terminal,
      `deployment/${record.name} ${paint(record.status.phase.toLowerCase(), 'green', outArea(terminal).colored)}`,
    )
  return EXIT.ok
}

async function explainNotReady(
  terminal: Terminal,
  client: Client,
  looks: readonly Look[],
  verdicts: readonly Verdict[],
): Promise<ExitCode> {
  for (const [at, { record }] of looks.entries()) {
    if (verdicts[at] === 'well') continue
    const { name, status } = record
    const ending = verdicts[at] === 'open' ? 'not ready in time' : 'not well'
    print(terminal, `deployment/${name} ${paint(ending, 'red', outArea(terminal).colored)}`)
    report(terminal, plain(`${name}: ${status.phase}: ${status.message}`))
    const why = await client.deployments.why(name)
    if (why.ok && isUnplaced(why.value))
      for (const line of indent(matrixLines(why.value, indented(errArea(terminal), 2))))
        report(terminal, line)
  }
  return EXIT.notReady
}

const isUnplaced = ({ cure, candidates }: Why): boolean =>
  cure.length > 0 || candidates.some(({ refusals }) => refusals.length > 0)
