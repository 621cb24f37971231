// `--wait`: polls the platform until every deployment is ready, or has failed to become ready.

import type { Client, Failure } from '@holdfast/client'
import type { DeploymentRecord, FailingContainer, PlacementEntry, Why } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { errArea, indented, outArea } from '../print/area.ts'
import { paint, paintState } from '../print/color.ts'
import { containerLines, replicaState } from '../print/containers.ts'
import { printError, printFailure } from '../print/failure.ts'
import { createLive } from '../print/live.ts'
import { matrixLines } from '../print/matrix.ts'
import { plain, plainLines } from '../print/plain.ts'
import { indent } from '../print/sections.ts'
import { pause } from '../terminal/pause.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import { isUnavailable } from './unavailable.ts'

/** Time between two reads of one deployment. Several deployments share this rate, up to the longest time. */
const POLL_MS = 250
const MAX_POLL_MS = 1_000
/** How long a replica may lack a node before the wait fails. Restarting nodes need some seconds to become ready again. */
const UNPLACED_MS = 5_000
/** The final reasons of a failed update, after which `--wait` ends. Servers that do not report failures report these. */
const FAILED_REASONS = new Set(['update_paused', 'rollback'])

export interface Awaited {
  readonly name: string
  /** The revision to wait for; absent: the newest revision. */
  readonly revision?: number
}

type Verdict = 'ready' | 'failed' | 'pending'

interface Observed {
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
  const unplacedSince = new Map<string, number>()
  const end = terminal.now() + longestMs
  const pollMs = Math.min(POLL_MS * awaited.length, MAX_POLL_MS)
  for (;;) {
    const observed = await observeAll(client, awaited)
    if ('failure' in observed) {
      if (!isUnavailable(observed.failure) || terminal.now() >= end)
        return printFailure(terminal, observed.failure)
      live.show(['the platform does not respond; the change is stored, still waiting'])
      if (!(await pause(pollMs, terminal.interrupted))) return EXIT.interrupted
      continue
    }
    const replaced = observed.find(
      ({ record }, at) => record.revision > (awaited[at]?.revision ?? record.revision),
    )
    if (replaced !== undefined) return printReplaced(terminal, replaced)
    const { colored } = errArea(terminal)
    live.show(observed.flatMap((each) => progressLines(each, colored)))
    const verdicts = observed.map((each, at) =>
      judge(each, awaited[at]?.revision, unplacedSince, terminal.now()),
    )
    if (verdicts.every((verdict) => verdict === 'ready')) return printAllReady(terminal, observed)
    if (!verdicts.includes('pending') || terminal.now() >= end)
      return explainNotReady(terminal, client, observed, verdicts)
    if (!(await pause(pollMs, terminal.interrupted))) return EXIT.interrupted
  }
}

async function observeAll(
  client: Client,
  awaited: readonly Awaited[],
): Promise<Observed[] | { readonly failure: Failure }> {
  const observed: Observed[] = []
  for (const { name } of awaited) {
    const [record, placements] = await Promise.all([
      client.deployments.read(name),
      client.deployments.placements(name),
    ])
    if (!record.ok) return record
    if (!placements.ok) return placements
    observed.push({ record: record.value, placements: placements.value.items })
  }
  return observed
}

/** Reports that another user stored a newer revision, so the awaited revision will not become ready. */
function printReplaced(terminal: Terminal, { record: { name, revision } }: Observed): ExitCode {
  printError(
    terminal,
    `${name} was changed to revision ${revision} by someone else; follow it with holdfast rollout status ${name}`,
  )
  return EXIT.conflict
}

function judge(
  { record: { name, revision, status } }: Observed,
  awaitedRevision: number | undefined,
  unplacedSince: Map<string, number>,
  nowMs: number,
): Verdict {
  const { phase, reason, replicas, runningRevision, failure } = status
  const isStopped = phase === 'Stopped' && replicas.desired === 0
  const isCurrent = runningRevision === (awaitedRevision ?? revision)
  if (isStopped || (phase === 'Running' && replicas.ready >= replicas.desired && isCurrent)) return 'ready'
  if (failure?.revision === (awaitedRevision ?? revision)) return 'failed'
  if (phase === 'Degraded' && FAILED_REASONS.has(reason)) return 'failed'
  if (replicas.placed >= replicas.desired || phase === 'Progressing') unplacedSince.delete(name)
  else if (!unplacedSince.has(name)) unplacedSince.set(name, nowMs)
  return nowMs - (unplacedSince.get(name) ?? nowMs) >= UNPLACED_MS ? 'failed' : 'pending'
}

function progressLines({ record: { name, status }, placements }: Observed, colored: boolean): string[] {
  const { phase, reason, replicas } = status
  const because = reason === '' ? '' : ` (${plain(reason)})`
  return [
    `${name}: ${paintState(phase, colored)}${because}, ${replicas.ready} of ${replicas.desired} ready`,
    ...placements.map(
      ({ replica, nodeName, revision, ...entry }) =>
        `  ${name} replica ${replica} on ${plain(nodeName)}: ${paintState(replicaState(entry), colored)}, revision ${revision}`,
    ),
  ]
}

function printAllReady(terminal: Terminal, observed: readonly Observed[]): ExitCode {
  for (const { record } of observed)
    print(
      terminal,
      `deployment/${record.name} ${paint(record.status.phase.toLowerCase(), 'green', outArea(terminal).colored)}`,
    )
  return EXIT.ok
}

async function explainNotReady(
  terminal: Terminal,
  client: Client,
  observed: readonly Observed[],
  verdicts: readonly Verdict[],
): Promise<ExitCode> {
  for (const [at, { record }] of observed.entries()) {
    if (verdicts[at] === 'ready') continue
    const { name, status } = record
    const ending = verdicts[at] === 'pending' ? 'not ready in time' : 'not ready'
    print(terminal, `deployment/${name} ${paint(ending, 'red', outArea(terminal).colored)}`)
    report(terminal, plain(`${name}: ${status.phase}: ${status.message}`))
    const why = await client.deployments.why(name)
    if (why.ok) for (const line of indent(whyLines(terminal, why.value))) report(terminal, line)
    await showLog(terminal, client, record, (why.ok ? why.value.containers : undefined) ?? [])
  }
  return EXIT.notReady
}

/** The containers that fail; or, if a replica has no node, every node with every reason against it. */
function whyLines(terminal: Terminal, why: Why): string[] {
  const area = indented(errArea(terminal), 2)
  if (why.containers !== undefined) return containerLines(why.containers, terminal.now(), area)
  return isUnplaced(why) ? matrixLines(why, area) : []
}

/** Shows the last log lines of a container that fails, and the command to type next. */
async function showLog(
  terminal: Terminal,
  client: Client,
  { name, status: { failure } }: DeploymentRecord,
  failing: readonly FailingContainer[],
): Promise<void> {
  const shown = failing.find(({ replica }) => replica === failure?.replica) ?? failing[0]
  const replica = shown?.replica ?? failure?.replica
  if (replica === undefined) return
  // After a rollback the failed container is gone, and its node keeps the last lines.
  const previous = shown === undefined
  const lines = await lastLogLines(client, name, { replica, previous })
  if (lines.length > 0) report(terminal, `last log lines of replica ${replica}:`)
  for (const line of indent(lines)) report(terminal, line)
  const hasRun = lines.length > 0 || (shown !== undefined && RAN.has(shown.reason))
  const next = `logs ${name} --replica ${replica}${previous ? ' --previous' : ''}`
  report(terminal, `next: holdfast ${hasRun ? next : `describe ${name}`}`)
}

/** The reasons of containers that have run, so that they may have written a log. */
const RAN = new Set(['', 'exited', 'unhealthy'])
const LOG_LINES = 10
/** Longest time to read log lines. A node that does not answer must not delay the result. */
const LOG_MS = 1_500

async function lastLogLines(
  client: Client,
  name: string,
  of: { readonly replica: number; readonly previous: boolean },
): Promise<string[]> {
  const lines: string[] = []
  const query = { tail: LOG_LINES, ...of }
  for await (const item of client.logs(name, query, AbortSignal.timeout(LOG_MS)))
    if (item.kind === 'line' && 'text' in item.line && item.line.canary !== true)
      lines.push(plainLines(item.line.text))
  return lines.slice(-LOG_LINES)
}

const isUnplaced = ({ cure, candidates }: Why): boolean =>
  cure.length > 0 || candidates.some(({ refusals }) => refusals.length > 0)
