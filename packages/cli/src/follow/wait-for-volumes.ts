// Waits until volumes are Ready, or until they are gone, with progress on stderr.

import type { Client, Failure } from '@holdfast/client'
import type { Volume } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { errArea, indented, outArea } from '../print/area.ts'
import { paint, paintState } from '../print/color.ts'
import { printError, printFailure } from '../print/failure.ts'
import { createLive } from '../print/live.ts'
import { matrixLines } from '../print/matrix.ts'
import { plain } from '../print/plain.ts'
import { indent } from '../print/sections.ts'
import { copiesText, PLACE_IT, phaseMeaning } from '../print/volume.ts'
import { pause } from '../terminal/pause.ts'
import { print, report, type Terminal } from '../terminal/terminal.ts'
import { isUnavailable } from './unavailable.ts'

const POLL_MS = 500
/** How long a volume may lack a node before the wait fails. Restarting nodes need some seconds to become ready again. */
const UNPLACED_MS = 5_000

export type AwaitedVolume = Pick<Volume, 'id' | 'name'>

interface WaitOptions {
  readonly longestMs: number
  /** Whether stdout gets a line for each volume that became Ready. */
  readonly announce: boolean
}

type Seen = Volume | undefined
type Verdict = 'done' | 'failed' | 'pending'

/** Waits until all volumes are Ready. A volume that no node accepts, or that is lost, ends the wait with a reason. */
export async function waitForVolumes(
  terminal: Terminal,
  client: Client,
  awaited: readonly AwaitedVolume[],
  { longestMs, announce }: WaitOptions,
): Promise<ExitCode> {
  const pendingSince = new Map<string, number>()
  const judge = (volume: Seen) => judgeReady(volume, pendingSince, terminal.now())
  const waited = await pollVolumes(terminal, client, awaited, { longestMs, judge })
  if (waited.kind === 'ended') return waited.exitCode
  for (const [at, volume] of waited.seen.entries()) {
    const { name = '' } = awaited[at] ?? {}
    if (waited.verdicts[at] !== 'done') await explainNotReady(terminal, client, name, volume)
    else if (announce) print(terminal, `volume/${name} ${paint('ready', 'green', outArea(terminal).colored)}`)
  }
  return waited.verdicts.every((verdict) => verdict === 'done') ? EXIT.ok : EXIT.notReady
}

/** Waits until the platform has deleted all volumes. */
export async function waitUntilVolumesGone(
  terminal: Terminal,
  client: Client,
  awaited: readonly AwaitedVolume[],
  longestMs: number,
): Promise<ExitCode> {
  const judge = (volume: Seen) => (volume === undefined ? 'done' : 'pending')
  const waited = await pollVolumes(terminal, client, awaited, { longestMs, judge })
  if (waited.kind === 'ended') return waited.exitCode
  for (const [at, { name }] of awaited.entries()) {
    if (waited.verdicts[at] === 'done') print(terminal, `volume/${name} deleted`)
    else printError(terminal, `${name} is still being deleted; a node must confirm that its copy is gone`)
  }
  return waited.verdicts.every((verdict) => verdict === 'done') ? EXIT.ok : EXIT.notReady
}

type Waited =
  | { readonly kind: 'seen'; readonly seen: readonly Seen[]; readonly verdicts: readonly Verdict[] }
  | { readonly kind: 'ended'; readonly exitCode: ExitCode }

/** Reads the volumes until none is pending, or the time is over. */
async function pollVolumes(
  terminal: Terminal,
  client: Client,
  awaited: readonly AwaitedVolume[],
  { longestMs, judge }: { readonly longestMs: number; judge(volume: Seen): Verdict },
): Promise<Waited> {
  const live = createLive(terminal)
  const end = terminal.now() + longestMs
  for (;;) {
    const read = await readVolumes(client, awaited)
    const isOver = terminal.now() >= end
    if ('failure' in read) {
      if (!isUnavailable(read.failure) || isOver)
        return { kind: 'ended', exitCode: printFailure(terminal, read.failure) }
      live.show(['the platform does not respond; the change is stored, still waiting'])
    } else {
      live.show(read.flatMap((volume) => progressLine(volume, errArea(terminal).colored)))
      const verdicts = read.map(judge)
      if (!verdicts.includes('pending') || isOver) return { kind: 'seen', seen: read, verdicts }
    }
    if (!(await pause(POLL_MS, terminal.interrupted))) return { kind: 'ended', exitCode: EXIT.interrupted }
  }
}

const isGone = (failure: Failure): boolean => failure.kind === 'rejected' && failure.status === 404

async function readVolumes(
  client: Client,
  awaited: readonly AwaitedVolume[],
): Promise<Seen[] | { readonly failure: Failure }> {
  const seen: Seen[] = []
  for (const { id } of awaited) {
    const read = await client.volumes.read(id)
    if (!read.ok && !isGone(read.failure)) return read
    seen.push(read.ok ? read.value : undefined)
  }
  return seen
}

function progressLine(volume: Seen, colored: boolean): string[] {
  if (volume === undefined) return []
  const { name, phase, reason, primary } = volume
  const because = reason === null ? '' : ` (${plain(reason)})`
  const copies = copiesText(volume)
  const where = primary === null ? '' : `, primary on ${plain(primary.nodeName)}`
  const count = copies === '' ? '' : `, ${copies.replace('/', ' of ')} copies current`
  return [`${name}: ${paintState(phase, colored)}${because}${where}${count}`]
}

function judgeReady(volume: Seen, pendingSince: Map<string, number>, nowMs: number): Verdict {
  if (volume === undefined || volume.phase === 'Lost' || volume.phase === 'Deleting') return 'failed'
  const { id, phase } = volume
  if (phase === 'Ready') return 'done'
  if (phase !== 'Pending') pendingSince.delete(id)
  else if (!pendingSince.has(id)) pendingSince.set(id, nowMs)
  return nowMs - (pendingSince.get(id) ?? nowMs) >= UNPLACED_MS ? 'failed' : 'pending'
}

async function explainNotReady(
  terminal: Terminal,
  client: Client,
  name: string,
  volume: Seen,
): Promise<void> {
  print(terminal, `volume/${name} ${paint('not ready', 'red', outArea(terminal).colored)}`)
  if (volume === undefined) return report(terminal, `${name} was deleted by someone else`)
  report(terminal, plain(`${name}: ${volume.phase}: ${phaseMeaning(volume)}`))
  const why = volume.phase === 'Pending' ? await client.volumes.why(volume.id) : undefined
  if (why?.ok === true)
    for (const line of indent(matrixLines({ ...why.value, goal: PLACE_IT }, indented(errArea(terminal), 2))))
      report(terminal, line)
  report(terminal, `next: holdfast describe volume ${name}`)
}
