// Keeps the last log lines of containers on the node's disk, also when the container is restarted or removed: those of
// failed ones for an hour and until a later run of the assignment is ready, those of jobs as long as the job. They leave
// the node only when a reader asks. See docs/design/agent.md#kept-logs

import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AssignmentId, asAssignmentId, type DesiredItem, defined } from '@holdfast/contract'
import { betweenRuns, needsEnvironment } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { createLimit } from '../converge/limit.ts'
import { createRedaction, secretValues } from '../observe/redact.ts'
import { type Engine, EngineError, type OutputChannel } from '../ports/engine.ts'
import { writeDurably } from '../state/durable-file.ts'
import { readToEnd } from './read-to-end.ts'

/** The bounds of kept logs: of one container, and of the node in all. */
export interface KeptBounds {
  /** The folder inside the folder of the node's state. */
  readonly folder: string
  readonly lines: number
  readonly bytes: number
  readonly containers: number
  /** Absent: as long as the server names the log. */
  readonly keptMs?: number
}

/** Failed containers: at most 16 MiB in all. */
const FAILED: KeptBounds = {
  folder: 'kept-logs',
  lines: 200,
  bytes: 64 * 1024,
  containers: 256,
  keptMs: 60 * 60_000,
}

/**
 * Containers of jobs: the last MiB of each, for as long as the server names it. A server keeps 1,000 finished jobs of a
 * tenant; the bound also leaves room for those that run or are about to be deleted. A line has at least 32 bytes with its
 * time.
 */
export const JOB_LOGS: KeptBounds = {
  folder: 'job-logs',
  lines: 32_768,
  bytes: 1024 * 1024,
  containers: 2000,
}
/** How many times the kept lines are read to find the last ones of a run while a later run already writes. */
const READ_TIMES = 5
const READ_MS = 10_000
/** Logs that are read at once: reading costs the engine CPU time, and the agent memory. */
const MAX_READS = 2
/** The form of assignment ids; as a file name it cannot leave the folder. */
const FILE_NAME = /^rep_[0-9A-Z]{26}$/

export interface KeptLine {
  readonly channel: OutputChannel
  /** The line with its timestamp and line feed. */
  readonly line: string
}

export interface KeepRequest {
  readonly item: DesiredItem
  readonly containerId: string
  /** Time before the first line of the run whose lines are kept; absent: it is the container's first run. */
  readonly since?: string
  /** End of that run; absent: the last lines of any run. */
  readonly endedAt?: string
}

export interface KeptLogs {
  /** Keeps the last lines of a run. Rejects if they could not be read or written; of a job, all of them. */
  keep(request: KeepRequest): Promise<void>
  /** The kept lines of an assignment; empty if there are none. */
  read(id: AssignmentId): Promise<readonly KeptLine[]>
  /**
   * Removes the lines whose time is over, except those of an assignment that still waits to be ready, and the oldest beyond
   * the bound. Never rejects.
   */
  expire(isWaiting: (id: AssignmentId) => boolean): Promise<void>
  /** Removes the lines of all assignments but these, if they were kept before the time. Never rejects. */
  keepOnly(ids: ReadonlySet<string>, beforeMs: number): Promise<void>
}

/** The kept lines of one of two places: those of a job, or those of a failed container. */
export const eitherKept = (
  first: Pick<KeptLogs, 'read'>,
  second: Pick<KeptLogs, 'read'>,
): Pick<KeptLogs, 'read'> => ({
  async read(id) {
    const lines = await first.read(id)
    return lines.length > 0 ? lines : second.read(id)
  },
})

export interface KeptLogDeps {
  readonly engine: Pick<Engine, 'readLogs' | 'readEnvironment' | 'inspectContainer'>
  /** The folder that holds the node's state. */
  readonly folder: string
  /** Current time in milliseconds since 1970. */
  now(): number
  readonly log: Logger
}

export function createKeptLogs(deps: KeptLogDeps, bounds: KeptBounds = FAILED): KeptLogs {
  const folder = join(deps.folder, bounds.folder)
  const limit = createLimit(MAX_READS)
  // One change of the folder at a time: two logs of one assignment have the same file, and a listed file must not vanish.
  const change = createLimit(1)
  const removeFiles = (select: (kept: readonly KeptFile[]) => readonly KeptFile[]): Promise<void> =>
    change(async () => {
      for (const { id } of select(await listKept(folder))) await rm(join(folder, id), { force: true })
    }).catch((error: unknown) => deps.log.warn({ message: String(error) }, 'kept logs were not removed'))
  return {
    async keep(request) {
      const { assignmentId } = request.item
      const lines = await limit(() => readKept(deps, bounds, request))
      if (lines.length > 0 && FILE_NAME.test(assignmentId))
        await change(() => store(folder, assignmentId, lines, bounds.keptMs === undefined))
    },
    async read(id) {
      if (!FILE_NAME.test(id)) return []
      // A missing file means that nothing is kept, which is no error.
      return decodeLines(await readFile(join(folder, id), 'utf8').catch(() => ''))
    },
    expire: (isWaiting) =>
      removeFiles((kept) => {
        const surplus = kept.slice(0, Math.max(0, kept.length - bounds.containers))
        if (bounds.keptMs === undefined) warnOfLoss(deps, bounds, surplus)
        const keptMs = bounds.keptMs ?? Number.POSITIVE_INFINITY
        const old = kept.filter((file) => deps.now() - file.keptMs > keptMs && !isWaiting(file.id))
        return [...new Set([...surplus, ...old])]
      }),
    keepOnly: (ids, beforeMs) =>
      removeFiles((kept) => kept.filter(({ id, keptMs }) => !ids.has(id) && keptMs < beforeMs)),
  }
}

/** The server deletes logs that it does not name, so every other log beyond the bound may still be asked for. */
function warnOfLoss({ log }: KeptLogDeps, { containers }: KeptBounds, lost: readonly KeptFile[]): void {
  if (lost.length === 0) return
  const assignments = lost.map(({ id }) => id)
  log.warn({ assignments, bound: containers }, 'too many job logs, the oldest are deleted before their time')
}

async function readKept(deps: KeptLogDeps, bounds: KeptBounds, request: KeepRequest): Promise<KeptLine[]> {
  return withoutSecrets(deps.engine, request, await readRun(deps.engine, bounds, request))
}

/**
 * Reads the last lines of a run. The engine may start the next run at any time, so its start is checked after the read; if
 * there is one, the log is read again up to the next run.
 */
async function readRun(
  engine: KeptLogDeps['engine'],
  bounds: KeptBounds,
  request: KeepRequest,
): Promise<KeptLine[]> {
  const lines = await readLast(engine, bounds, request, undefined)
  if (request.endedAt === undefined) return lines
  const { startedAt } = await engine.inspectContainer(request.containerId)
  const end = betweenRuns(request.endedAt, startedAt)
  return end === undefined ? lines : readLast(engine, bounds, request, sortable(end))
}

/** Reads last lines within both bounds. Memory stays bounded however much was written. `end`: end of the run. */
async function readLast(
  engine: Pick<Engine, 'readLogs'>,
  bounds: KeptBounds,
  { containerId, since }: KeepRequest,
  end: string | undefined,
): Promise<KeptLine[]> {
  const last = createLastLines(bounds)
  const entry = (channel: OutputChannel, raw: Buffer): void => {
    if (end === undefined || raw.toString('latin1', 0, end.length) < end) last.add(channel, raw)
  }
  const tail = end === undefined ? bounds.lines : READ_TIMES * bounds.lines
  const request = { follow: false, tail, ...defined({ since }) }
  const open = (onEnd: (complete: boolean) => void) =>
    engine.readLogs(containerId, request, { entry, end: onEnd })
  const isWhole = await readToEnd(open, READ_MS)
  // The last lines come last, and those of a job are promised. Of a failed container, any lines are of use.
  if (!isWhole && bounds.keptMs === undefined)
    throw new EngineError('timeout', 'The engine did not return the whole log of the container.')
  return last.lines()
}

/** The last lines within both bounds, in one buffer: a container that writes much must not fill the agent's memory. */
function createLastLines({ lines: most, bytes: room }: KeptBounds) {
  const ring = Buffer.allocUnsafe(room)
  const entries: { readonly channel: OutputChannel; readonly from: number; readonly length: number }[] = []
  let [bytes, next] = [0, 0]
  return {
    add(channel: OutputChannel, raw: Buffer): void {
      const length = Math.min(raw.length, room)
      while (entries.length >= most || bytes + length > room) bytes -= entries.shift()?.length ?? 0
      const fits = raw.copy(ring, next, 0, Math.min(length, room - next))
      raw.copy(ring, 0, fits, length)
      entries.push({ channel, from: next, length })
      bytes += length
      next = (next + length) % room
    },
    lines: (): KeptLine[] =>
      entries.map(({ channel, from, length }) => {
        const parts = [
          ring.subarray(from, from + length),
          ring.subarray(0, Math.max(0, from + length - room)),
        ]
        const isWrapped = from + length > room
        return { channel, line: Buffer.concat(isWrapped ? parts : parts.slice(0, 1)).toString('utf8') }
      }),
  }
}

const FRACTION = /\.(\d+)Z$/

/** A time of the engine with nine digits, as log lines have it, so that comparing texts compares times. */
const sortable = (time: string): string =>
  `${time.replace(FRACTION, '').replace(/Z$/, '')}.${(FRACTION.exec(time)?.[1] ?? '').padEnd(9, '0')}Z`

/** The agent writes no secret value to its disk, also none that a container printed. */
async function withoutSecrets(
  engine: Pick<Engine, 'readEnvironment'>,
  { item, containerId }: KeepRequest,
  lines: readonly KeptLine[],
): Promise<KeptLine[]> {
  if (lines.length === 0 || !needsEnvironment(item)) return [...lines]
  const redact = createRedaction(secretValues(item.template, await engine.readEnvironment(containerId)))
  return lines.map(({ channel, line }) => ({ channel, line: redact({ text: line, isCut: false }) }))
}

/** The file has one JSON text for each line: `["stderr", "2026-... text\n"]`. */
async function store(
  folder: string,
  id: AssignmentId,
  lines: readonly KeptLine[],
  isPromised: boolean,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const text = lines.map(({ channel, line }) => JSON.stringify([channel, line])).join('\n')
  if (isPromised) return writeDurably(join(folder, id), text)
  // The file is replaced at once, so that a reader never sees half of it. It need not survive a loss of power.
  await writeFile(join(folder, `${id}.new`), text, { mode: 0o600 })
  await rename(join(folder, `${id}.new`), join(folder, id))
}

function decodeLines(text: string): KeptLine[] {
  return text.split('\n').flatMap((each): KeptLine[] => {
    if (each === '') return []
    const [channel, line]: unknown[] = JSON.parse(each)
    return [{ channel: channel === 'stderr' ? 'stderr' : 'stdout', line: String(line) }]
  })
}

interface KeptFile {
  readonly id: AssignmentId
  readonly keptMs: number
}

/** The kept files, oldest first. */
async function listKept(folder: string): Promise<KeptFile[]> {
  // A missing folder means that nothing was ever kept, which is no error.
  const names = await readdir(folder).catch(() => [])
  const ids = names.filter((name) => FILE_NAME.test(name)).map(asAssignmentId)
  const files = await Promise.all(
    ids.map(async (id) => ({ id, keptMs: (await stat(join(folder, id))).mtimeMs })),
  )
  return files.sort((left, right) => left.keptMs - right.keptMs)
}
