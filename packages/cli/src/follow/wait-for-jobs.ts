// Waits until jobs have ended, with progress on stderr and without their logs.

import type { Client, Failure } from '@holdfast/client'
import { isFinalPhase, type JobRecord } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { paint } from '../print/color.ts'
import { printError, printFailure } from '../print/failure.ts'
import { outcomeText, progressText } from '../print/job.ts'
import { createLive } from '../print/live.ts'
import { plain } from '../print/plain.ts'
import { pause } from '../terminal/pause.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import { isUnavailable } from './unavailable.ts'

const POLL_MS = 500

/** The jobs after their end, each printed with its outcome; or the exit code if they did not all end in time. */
export async function waitForJobs(
  terminal: Terminal,
  client: Client,
  jobs: readonly Pick<JobRecord, 'id'>[],
  longestMs: number,
): Promise<readonly JobRecord[] | ExitCode> {
  const live = createLive(terminal)
  const end = terminal.now() + longestMs
  for (;;) {
    const read = await readJobs(client, jobs)
    const isOver = terminal.now() >= end
    if ('failure' in read) {
      if (isOver || !isUnavailable(read.failure)) return printFailure(terminal, read.failure)
      live.show(['the platform does not respond; the jobs continue, still waiting'])
    } else {
      live.show(read.map((job) => plain(progressText(job))))
      const active = read.filter(({ status }) => !isFinalPhase(status.phase))
      if (active.length === 0 || isOver) return printEnds(terminal, read, active)
    }
    if (!(await pause(POLL_MS, terminal.interrupted))) return EXIT.interrupted
  }
}

async function readJobs(
  client: Client,
  jobs: readonly Pick<JobRecord, 'id'>[],
): Promise<JobRecord[] | { readonly failure: Failure }> {
  const found: JobRecord[] = []
  for (const { id } of jobs) {
    const read = await client.jobs.read(id)
    if (!read.ok) return read
    found.push(read.value)
  }
  return found
}

function printEnds(
  terminal: Terminal,
  all: readonly JobRecord[],
  active: readonly JobRecord[],
): readonly JobRecord[] | ExitCode {
  const { colored } = outArea(terminal)
  for (const job of all.filter((each) => !active.includes(each)))
    print(
      terminal,
      `job/${job.id} ${paint(outcomeText(job), job.status.phase === 'failed' ? 'red' : 'green', colored)}`,
    )
  for (const { id } of active)
    printError(
      terminal,
      `job/${id} has not ended in time and continues; holdfast job logs ${id} -f follows it`,
    )
  return active.length === 0 ? all : EXIT.notReady
}
