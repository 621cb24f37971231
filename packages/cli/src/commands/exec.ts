// A command in a container, as if it ran here: its output, its exit code, with -it its terminal.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { POSITIVE_NUMBER } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'

export const exec: OnlineCommand = {
  name: 'exec',
  summary: 'run a command in a container of a deployment',
  details:
    'The exit code is that of the command. Write -- before the command when it has options of its own.',
  args: [DEPLOYMENT_ARGUMENT, { name: 'command', summary: 'what to run, with its arguments', many: true }],
  options: [
    { flags: '-i, --stdin', summary: 'pass on what comes to stdin' },
    { flags: '-t, --tty', summary: 'give it a terminal: this one' },
    {
      flags: '--replica <number>',
      summary: 'in which replica (default: the first that is ready)',
      form: POSITIVE_NUMBER,
    },
  ],
  examples: [
    ['holdfast exec web -- ls -l /srv', 'Runs once, and prints.'],
    ['holdfast exec -it web -- sh', 'A shell; its window follows this one.'],
  ],
  online: true,
  async run({ terminal, args: [typed, ...command], text, flag }, client) {
    const tty = flag('tty')
    if (tty && !(terminal.inIsTerminal && terminal.outIsTerminal)) {
      printError(terminal, '-t wants a terminal, and there is none')
      return EXIT.usage
    }
    const replica = text('replica')
    const wanted = { command, tty, ...(replica === undefined ? {} : { replica: Number(replica) }) }
    const issued = await client.deployments.exec(deploymentName(typed), wanted)
    if (!issued.ok) return printFailure(terminal, issued.failure)
    const { runExec } = await import('../follow/run-exec.ts')
    return runExec(terminal, client.execUrl(issued.value), { tty, input: flag('stdin') })
  },
}
