// `holdfast job cancel`: stops jobs that have not ended.

import type { Client } from '@holdfast/client'
import { isFinalPhase, type JobRecord } from '@holdfast/contract'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { waitForJobs } from '../../follow/wait-for-jobs.ts'
import { cancelActive } from '../../jobs/cancel-active.ts'
import { JOB_ARGUMENT, jobName } from '../../jobs/job-argument.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { outcomeText } from '../../print/job.ts'
import { findActiveJobs } from '../../resources/find-job.ts'
import { print, type Terminal } from '../../terminal/terminal.ts'
import { waitMs, waitOptions } from '../apply.ts'

export const jobCancel: OnlineCommand = {
  name: 'job cancel',
  summary: 'stop jobs that have not ended',
  details:
    'The container gets the stop signal, and is killed after its grace period. The job stays listed with the phase cancelled. A name is accepted if only one job with that name has not ended.',
  args: [{ ...JOB_ARGUMENT, summary: 'id of the job, or its name', many: true }],
  options: [DRY_RUN_OPTION, ...waitOptions('the jobs have ended')],
  examples: [
    ['holdfast job cancel migrate', 'Cancels the only job with that name that has not ended.'],
    ['holdfast job cancel migrate --wait', 'Also waits until its container has stopped.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const cancelled: JobRecord[] = []
    let exitCode: ExitCode = EXIT.ok
    for (const typed of args) {
      const done = await cancelOne(invocation, client, jobName(typed))
      if (typeof done !== 'number') cancelled.push(done)
      else exitCode = exitCode === EXIT.ok ? done : exitCode
    }
    if (exitCode !== EXIT.ok || !flag('wait') || flag('dry-run')) return exitCode
    const ended = await waitForJobs(terminal, client, cancelled, waitMs(invocation))
    return typeof ended === 'number' ? ended : EXIT.ok
  },
}

function printEnded(terminal: Terminal, job: JobRecord): ExitCode {
  printError(terminal, `job/${job.id} has already ended: it ${outcomeText(job)}`)
  return EXIT.conflict
}

/** The cancelled job, or an exit code after the outcome was printed. */
async function cancelOne(
  { terminal, flag }: Invocation,
  client: Client,
  name: string,
): Promise<JobRecord | ExitCode> {
  const found = await findActiveJobs(client, name)
  if (!found.ok) return printFailure(terminal, found.failure)
  const [job, ...others] = found.value
  if (job === undefined) {
    printError(terminal, `every job with the name ${name} has ended; holdfast job list lists them`)
    return EXIT.conflict
  }
  if (others.length > 0) {
    const ids = found.value.map(({ id }) => id).join(', ')
    printError(
      terminal,
      `${found.value.length} jobs with the name ${name} have not ended; name one by its id: ${ids}`,
    )
    return EXIT.conflict
  }
  if (isFinalPhase(job.status.phase)) return printEnded(terminal, job)
  if (flag('dry-run'))
    return printPlanned(terminal, `job/${job.id}`, 'cancelled', await client.jobs.dryRuns.cancel(job.id))
  const cancelled = await cancelActive(client, job.id)
  if (!cancelled.ok) return printFailure(terminal, cancelled.failure)
  if (isFinalPhase(cancelled.value.status.phase)) return printEnded(terminal, cancelled.value)
  print(terminal, `job/${job.id} cancelling`)
  return cancelled.value
}
