// What the containers wrote.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { POINT_IN_TIME, POSITIVE_NUMBER, pointInTime, WHOLE_NUMBER } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { plainLines } from '../print/plain.ts'
import { report, type Terminal } from '../terminal/terminal.ts'

export const logs: OnlineCommand = {
  name: 'logs',
  summary: 'show what the containers of a deployment wrote',
  details:
    'What they wrote to stdout and to stderr goes to stdout here. On a terminal, what would steer it is shown as text; through a pipe it goes as it came.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '-f, --follow', summary: 'go on as they write' },
    { flags: '--tail <lines>', summary: 'only the last of each replica', form: WHOLE_NUMBER },
    { flags: '--since <time>', summary: 'only from then on: a time, or how long ago', form: POINT_IN_TIME },
    { flags: '--replica <number>', summary: 'of one replica only', form: POSITIVE_NUMBER },
    { flags: '--timestamps', summary: 'with the time of each line' },
  ],
  examples: [
    ['holdfast logs web -f --tail 20', 'The last lines, and then as they come.'],
    ['holdfast logs web --since 10m --replica 2', 'The last ten minutes of the second replica.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text, flag }, client) {
    const since = text('since')
    const query = {
      follow: flag('follow'),
      tail: numberOf(text('tail')),
      replica: numberOf(text('replica')),
      since: since === undefined ? undefined : pointInTime(since, terminal.now()),
    }
    for await (const news of client.logs(deploymentName(typed), query)) {
      if (news.kind === 'failed') return printFailure(terminal, news.failure)
      const { line } = news
      if ('skipped' in line) report(terminal, skippedText(line.skipped))
      else if ('unavailable' in line) {
        const { replica, node, reason } = line.unavailable
        report(terminal, `replica ${replica} on ${node} cannot be read: ${reason}`)
      } else printLine(terminal, line, flag('timestamps'))
    }
    return terminal.interrupted.aborted ? EXIT.interrupted : EXIT.ok
  },
}

/** What a slow reader missed. */
const skippedText = ({ replica, lines }: { readonly replica: number; readonly lines: number }): string =>
  `replica ${replica}: ${lines === 1 ? '1 line was' : `${lines} lines were`} skipped`

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)

function printLine(
  terminal: Terminal,
  { time, replica, text }: { readonly time: string; readonly replica: number; readonly text: string },
  timestamps: boolean,
): void {
  const head = `${timestamps ? `${time} ` : ''}${replica} | `
  terminal.out(`${head}${terminal.outIsTerminal ? plainLines(text) : text}\n`)
}
