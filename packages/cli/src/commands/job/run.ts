// `holdfast run`: creates a job, waits for it, prints its log and exits with its exit code.

import type { Client, Result, SentJob } from '@holdfast/client'
import { isFinalPhase, type JobRecord, type LogEntry, type WrittenJob } from '@holdfast/contract'
import { DURATION, durationSeconds, RUN_DURATION, WHOLE_NUMBER } from '../../args/forms.ts'
import { NODE_LOSS_WORDS } from '../../args/vocabulary.ts'
import type { Invocation, OnlineCommand, OptionSpec } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printAnnounced } from '../../print/changes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { outcomeText } from '../../print/job.ts'
import { plain } from '../../print/plain.ts'
import { print, report, type Terminal } from '../../terminal/terminal.ts'

const OPTIONS: readonly OptionSpec[] = [
  { flags: '--name <name>', summary: 'name of the job (default: from the image)' },
  { flags: '-e, --env <key=value>', summary: 'environment variable, in plain text; repeatable', many: true },
  {
    flags: '--secret <name=path>',
    summary: 'secret whose keys become variables NAME_key, for example DB=resources/orders-db; repeatable',
    many: true,
  },
  {
    flags: '--mount <volume:path>',
    summary: 'volume to mount, for example data:/var/lib/data, or data:/var/lib/data:ro; repeatable',
    many: true,
  },
  { flags: '--network <network>', summary: 'network to join; repeatable', many: true },
  { flags: '--node <node>', summary: 'name or id of the node to run on' },
  { flags: '--cpu <amount>', summary: 'requested CPU, for example 500m' },
  { flags: '--memory <amount>', summary: 'requested memory, for example 256Mi' },
  { flags: '--cpu-limit <amount>', summary: 'most CPU that the container may use' },
  { flags: '--memory-limit <amount>', summary: 'most memory that the container may use' },
  {
    flags: '--job-timeout <duration>',
    summary: 'longest time that one attempt may run (default: 1h)',
    form: RUN_DURATION,
  },
  {
    flags: '--retries <number>',
    summary: 'further attempts after a failed one (default: 0)',
    form: WHOLE_NUMBER,
  },
  {
    flags: '--on-node-loss <action>',
    summary:
      'wait for a lost node, or retry elsewhere while the first container may still run (default: wait)',
    choices: NODE_LOSS_WORDS,
  },
  {
    flags: '--keep-entrypoint',
    summary: 'pass the words after -- to the entrypoint of the image as arguments',
  },
  { flags: '-d, --detach', summary: 'print the id of the job and return at once' },
  {
    flags: '--wait-timeout <duration>',
    summary: 'stop waiting after this time with exit code 4; the job continues (default: no limit)',
    form: DURATION,
  },
  DRY_RUN_OPTION,
  {
    flags: '-o, --output <form>',
    summary: 'print the job as JSON, or its id; the log then goes to stderr',
    choices: ['json', 'name'],
  },
]

export const run: OnlineCommand = {
  name: 'run',
  summary: 'run a command to its end as a job, and exit with its exit code',
  details: [
    'The command replaces the entrypoint of the image. Without a command, the image runs as it is. Standard output and standard error of the container are printed as such; progress goes to stderr.',
    'The exit code is that of the last attempt. A job that failed without an exit code, for example because no container could be created, or that was cancelled by another command, ends with 1.',
    'Ctrl-C cancels the job and waits until its container has stopped, then exits with 130. A second Ctrl-C leaves without waiting. With --detach nothing waits: holdfast job logs ID -f follows the job, and Ctrl-C there ends only the command.',
  ].join('\n\n'),
  args: [
    { name: 'image', summary: 'image to run, with a tag or a digest' },
    {
      name: 'command',
      summary: 'the command with its arguments',
      optional: true,
      many: true,
      verbatim: true,
    },
  ],
  options: OPTIONS,
  examples: [
    [
      'holdfast run registry.example.com/shop/web:1.4.2 -- ./migrate --all',
      'Runs a migration and exits with its exit code.',
    ],
    [
      'holdfast run --secret DB=resources/orders-db --retries 3 registry.example.com/shop/report:2.0 -- ./report',
      'Runs with a secret, and up to three more times if it fails.',
    ],
    [
      'holdfast run --detach --name nightly registry.example.com/shop/report:2.0',
      'Prints the id of the job and returns.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, flag } = invocation
    const body = await bodyOf(invocation, client)
    if (typeof body === 'number') return body
    if (flag('dry-run')) {
      const { printPlannedJob } = await import('../../jobs/plan-document.ts')
      const planned = await client.jobs.dryRuns.create(body)
      if (!planned.ok) return printFailure(terminal, planned.failure)
      const { name, secrets } = planned.value.plan.result.job
      printPlannedJob(terminal, { ...planned.value, name, secrets }, { verbose: flag('verbose') })
      return EXIT.ok
    }
    const created = await create(client, body)
    if (!created.ok) return printFailure(terminal, created.failure)
    printAnnounced(terminal, created.value, { verbose: flag('verbose'), secrets: created.value.job.secrets })
    const { job } = created.value
    if (flag('detach')) return printDetached(invocation, job)
    report(terminal, `job/${job.id} created`)
    return follow(invocation, client, job)
  },
}

/**
 * Ctrl-C does not interrupt the creation, because the command would not know then whether there is a job to cancel. The deadline
 * of the request bounds it.
 */
const create = (client: Client, body: SentJob): Promise<Result<WrittenJob>> =>
  client.jobs.create(body, { signal: new AbortController().signal })

async function follow(invocation: Invocation, client: Client, { id }: JobRecord): Promise<ExitCode> {
  const { terminal, text } = invocation
  const [{ followJob }, { forwardLine }] = await Promise.all([
    import('../../follow/follow-job.ts'),
    import('../../follow/print-job-log.ts'),
  ])
  // Data on stdout must not mix with the log.
  const forward = forwardLine(terminal)
  const printLine = (line: LogEntry): void =>
    forward(text('output') === undefined ? line : { ...line, stream: 'stderr' })
  const seconds = durationSeconds(text('wait-timeout') ?? '')
  const longestMs = seconds === undefined ? undefined : seconds * 1000
  const job = await followJob(terminal, client, { id }, { longestMs, cancels: true, printLine })
  if (typeof job === 'number') return job
  printForm(invocation, job)
  return exitCodeOf(terminal, job)
}

function printDetached(invocation: Invocation, job: JobRecord): ExitCode {
  const { terminal, text } = invocation
  if (text('output') === undefined) print(terminal, `job/${job.id} created`)
  printForm(invocation, job)
  return EXIT.ok
}

function printForm({ terminal, text }: Invocation, job: JobRecord): void {
  if (text('output') === 'json') print(terminal, JSON.stringify(job, null, 2))
  if (text('output') === 'name') print(terminal, `job/${job.id}`)
}

/** The exit code of the job, or 1 if it ended without one. */
export function exitCodeOf(terminal: Terminal, job: JobRecord): ExitCode {
  const { phase, reason, exitCode, message } = job.status
  if (!isFinalPhase(phase)) return EXIT.notReady
  if (terminal.interrupted.aborted) {
    report(terminal, `job/${job.id} ${outcomeText(job)}`)
    return EXIT.interrupted
  }
  if (phase === 'succeeded') return EXIT.ok
  printError(
    terminal,
    plain(`job/${job.id} ${outcomeText(job)}${reason === 'exited' || message === '' ? '' : `: ${message}`}`),
  )
  return phase === 'failed' && exitCode !== null && exitCode !== 0 ? exitCode : EXIT.error
}

/** The request for a job with ids of volumes and nodes, or an exit code after the problem was printed. */
async function bodyOf(invocation: Invocation, client: Client): Promise<SentJob | ExitCode> {
  const { terminal } = invocation
  const [{ jobBodyOf }, { resolveNames }] = await Promise.all([
    import('../../jobs/job-body.ts'),
    import('../../resources/resolve-names.ts'),
  ])
  const typed = jobBodyOf(invocation)
  if (!typed.ok) {
    printError(terminal, typed.why)
    return EXIT.usage
  }
  const resolved = await resolveNames(client, typed.body)
  return resolved.ok ? resolved.value : printFailure(terminal, resolved.failure)
}
