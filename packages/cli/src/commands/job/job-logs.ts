// `holdfast job logs`: prints the log of a job, also after its end.

import { isFinalPhase, type LogEntry } from '@holdfast/contract'
import { numberOf, POINT_IN_TIME, pointInTime, WHOLE_NUMBER } from '../../args/forms.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { followJob, hasStarted } from '../../follow/follow-job.ts'
import { printJobLog } from '../../follow/print-job-log.ts'
import { JOB_ARGUMENT, jobName } from '../../jobs/job-argument.ts'
import { printFailure } from '../../print/failure.ts'
import { plainLines } from '../../print/plain.ts'
import { findJob } from '../../resources/find-job.ts'
import { report, type Terminal } from '../../terminal/terminal.ts'

export const jobLogs: OnlineCommand = {
  name: 'job logs',
  summary: 'show the log of a job, also after its end',
  details:
    'The node of the last attempt keeps the end of its log for as long as the platform keeps the job. With --follow the command ends with the job, and Ctrl-C ends only the command. The exit code is not that of the job; holdfast job describe shows it.',
  args: [JOB_ARGUMENT],
  options: [
    { flags: '-f, --follow', summary: 'follow new lines until the job ends' },
    { flags: '-n, --tail <lines>', summary: 'only the last lines (default: all)', form: WHOLE_NUMBER },
    {
      flags: '--since <time>',
      summary: 'only lines after a time, or within a duration such as 10m',
      form: POINT_IN_TIME,
    },
    { flags: '--timestamps', summary: 'prefix each line with its time' },
  ],
  examples: [
    ['holdfast job logs migrate', 'Prints the log of the newest job with that name.'],
    ['holdfast job logs migrate -f', 'Follows the log until the job ends.'],
  ],
  online: true,
  async run({ terminal, args, text, flag }, client) {
    const found = await findJob(client, jobName(args[0]))
    if (!found.ok) return printFailure(terminal, found.failure)
    const { id, status } = found.value
    const typed = text('since')
    const since = typed === undefined ? undefined : pointInTime(typed, terminal.now())
    const tail = numberOf(text('tail')) ?? ALL_LINES
    const printLine = linePrinter(terminal, flag('timestamps'))
    if (flag('follow') && !isFinalPhase(status.phase)) {
      const followed = await followJob(terminal, client, found.value, {
        cancels: false,
        tail,
        since,
        printLine,
      })
      return typeof followed === 'number' ? followed : EXIT.ok
    }
    if (!hasStarted(found.value)) {
      report(terminal, `no container of job/${id} has started; holdfast job describe ${id} shows why`)
      return EXIT.ok
    }
    const exitCode = await printJobLog({ terminal, printLine }, client.jobs.logs(id, { tail, since }))
    return terminal.interrupted.aborted ? EXIT.interrupted : exitCode
  },
}

/** The most lines that the platform returns at once. */
const ALL_LINES = 10_000

const linePrinter =
  (terminal: Terminal, timestamps: boolean) =>
  ({ time, text }: LogEntry): void => {
    const head = timestamps ? `${time} ` : ''
    terminal.out(`${head}${terminal.outIsTerminal ? plainLines(text) : text}\n`)
  }
