// `holdfast logs`: prints the output of a deployment's containers.

import type { LogEntry, LogSkip } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { numberOf, POINT_IN_TIME, POSITIVE_NUMBER, pointInTime, WHOLE_NUMBER } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printReplicaFailure } from '../follow/no-replica.ts'
import { replicaText } from '../print/containers.ts'
import { count } from '../print/count.ts'
import { plainLines } from '../print/plain.ts'
import { report, type Terminal } from '../terminal/terminal.ts'

export const logs: OnlineCommand = {
  name: 'logs',
  aliases: ['log'],
  summary: 'show the output of the containers of a deployment',
  details:
    'Container output to stdout and stderr is printed to stdout. On a terminal, control characters are escaped; a pipe gets the output unchanged.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '-f, --follow', summary: 'follow new lines' },
    {
      flags: '-n, --tail <lines>',
      summary: 'only the last lines of each replica (default: 100)',
      form: WHOLE_NUMBER,
    },
    {
      flags: '--since <time>',
      summary: 'only lines after a time, or within a duration such as 10m',
      form: POINT_IN_TIME,
    },
    { flags: '--replica <number>', summary: 'only lines of one replica', form: POSITIVE_NUMBER },
    { flags: '--canary', summary: 'only lines of the canary' },
    {
      flags: '-p, --previous',
      summary: 'only the last lines of failed containers, also after a restart or a rollback',
    },
    { flags: '--timestamps', summary: 'prefix each line with its time' },
  ],
  examples: [
    ['holdfast logs web -f --tail 20', 'Prints the last lines and follows new ones.'],
    ['holdfast logs web --canary -f', 'Follows the lines of the canary of web.'],
    ['holdfast logs web --since 10m --replica 2', 'Prints the last ten minutes of the second replica.'],
    [
      'holdfast logs web --previous',
      'Prints the last lines of the containers that failed, kept for an hour.',
    ],
  ],
  online: true,
  async run({ terminal, args: [typed], text, flag }, client) {
    const since = text('since')
    const canary = flag('canary')
    const query = {
      canary,
      follow: flag('follow'),
      previous: flag('previous'),
      tail: numberOf(text('tail')),
      replica: numberOf(text('replica')),
      since: since === undefined ? undefined : pointInTime(since, terminal.now()),
    }
    const name = deploymentName(typed)
    let isEmpty = true
    for await (const item of client.logs(name, query)) {
      if (item.kind === 'failed')
        return printReplicaFailure(terminal, client, { name, replica: query.replica, canary }, item.failure)
      const { line } = item
      isEmpty = false
      if ('skipped' in line) report(terminal, skippedText(line.skipped))
      else if ('unavailable' in line) {
        const { node, reason } = line.unavailable
        report(terminal, `replica ${replicaText(line.unavailable)} on ${node} cannot be read: ${reason}`)
      } else printLine(terminal, line, flag('timestamps'))
    }
    if (isEmpty && query.previous) report(terminal, nothingKept(name))
    return terminal.interrupted.aborted ? EXIT.interrupted : EXIT.ok
  },
}

const nothingKept = (name: string): string =>
  `no container of ${name} failed within the last hour, or it printed nothing; without --previous, the logs of the current containers are shown`

/** Message about log lines that the server dropped because this client read too slowly. */
const skippedText = (skipped: LogSkip['skipped']): string =>
  `replica ${replicaText(skipped)}: ${count(skipped.lines, 'line was', 'lines were')} skipped`

function printLine(terminal: Terminal, entry: LogEntry, timestamps: boolean): void {
  const { time, text } = entry
  const head = `${timestamps ? `${time} ` : ''}${replicaText(entry)} | `
  terminal.out(`${head}${terminal.outIsTerminal ? plainLines(text) : text}\n`)
}
