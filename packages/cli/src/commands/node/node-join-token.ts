// `holdfast node join-token`: issues a token that enrolls one machine. The command to run on that machine goes to stdout.
// The token is shown only once.

import { defined } from '@holdfast/contract'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { print, report } from '../../terminal/terminal.ts'

export const nodeJoinToken: OnlineCommand = {
  name: 'node join-token',
  summary: 'issue a join token and print the command that enrolls the machine',
  details: 'The token works once, for 15 minutes, for a machine of that name.',
  args: [{ name: 'name', summary: 'name of the node' }],
  options: [
    { flags: '--country <code>', summary: 'country that the token attests, for example DE' },
    { flags: '--region <name>', summary: 'region that the token attests' },
    { flags: '-o, --output <form>', summary: 'output format', choices: ['json'] },
  ],
  examples: [['holdfast node join-token n1 --country DE', 'Run the printed command on the machine.']],
  online: true,
  async run({ terminal, args: [nodeName = ''], text }, client) {
    const [country, region] = [text('country'), text('region')]
    const attests = country !== undefined || region !== undefined
    const residency = attests ? defined({ country, region }) : undefined
    const issued = await client.nodes.issueJoinToken({ nodeName, ...defined({ residency }) })
    if (!issued.ok) return printFailure(terminal, issued.failure)
    if (text('output') === 'json') print(terminal, JSON.stringify(issued.value, null, 2))
    else print(terminal, issued.value.command ?? '')
    report(terminal, `valid once, until ${issued.value.expiresAt}`)
    return EXIT.ok
  },
}
