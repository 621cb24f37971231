// `holdfast exec`: runs a command in a container, with its output, exit code and, with -it, its terminal.

import { defined, SECRET_READERS } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { numberOf, POSITIVE_NUMBER } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printReplicaFailure } from '../follow/no-replica.ts'
import { printError } from '../print/failure.ts'

export const exec: OnlineCommand = {
  name: 'exec',
  summary: 'run a command in a container of a deployment',
  details: `The exit code is that of the command. Options of holdfast come before the command.\n\n${SECRET_READERS}`,
  args: [
    DEPLOYMENT_ARGUMENT,
    { name: 'command', summary: 'the command with its arguments', many: true, verbatim: true },
  ],
  options: [
    { flags: '-i, --stdin', summary: 'forward stdin to the command' },
    { flags: '-t, --tty', summary: 'attach this terminal' },
    {
      flags: '--replica <number>',
      summary: 'number of the replica (default: the first ready one)',
      form: POSITIVE_NUMBER,
    },
    { flags: '--canary', summary: 'run in a replica of the canary' },
  ],
  examples: [
    ['holdfast exec web ls -l /srv', 'Runs a command and prints its output.'],
    ['holdfast exec -it web sh', 'Opens a shell.'],
  ],
  online: true,
  async run({ terminal, args: [typed, ...command], text, flag }, client) {
    const tty = flag('tty')
    if (tty && !(terminal.inIsTerminal && terminal.outIsTerminal)) {
      printError(terminal, '-t needs a terminal, but stdin or stdout is not one')
      return EXIT.usage
    }
    const name = deploymentName(typed)
    const replica = numberOf(text('replica'))
    const canary = flag('canary')
    const asked = { command, tty, ...defined({ replica, canary: canary || undefined }) }
    const issued = await client.deployments.exec(name, asked)
    if (!issued.ok) return printReplicaFailure(terminal, client, { name, replica, canary }, issued.failure)
    const { runExec } = await import('../follow/run-exec.ts')
    return runExec(terminal, client.execUrl(issued.value), { tty, input: flag('stdin') })
  },
}
