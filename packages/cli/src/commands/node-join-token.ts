// The permission for one machine to join. The token is in the answer once; it is data, since somebody must carry it over.

import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printFailure } from '../print/failure.ts'
import { print, report } from '../terminal/terminal.ts'

export const nodeJoinToken: OnlineCommand = {
  name: 'node join-token',
  summary: 'issue a token with which one machine can join, and print what to type there',
  details: 'It works once, for 15 minutes, for a machine of that name.',
  args: [{ name: 'name', summary: 'what the node will be called' }],
  options: [
    { flags: '--country <code>', summary: 'the country it may say that it stands in, for example DE' },
    { flags: '--region <name>', summary: 'the region it may say that it stands in' },
    { flags: '-o, --output <form>', summary: 'how to show it', choices: ['json'] },
  ],
  examples: [['holdfast node join-token n1 --country DE', 'Type the printed command on that machine.']],
  online: true,
  async run({ terminal, args: [nodeName = ''], text }, client) {
    const [country, region] = [text('country'), text('region')]
    const residency = {
      ...(country === undefined ? {} : { country }),
      ...(region === undefined ? {} : { region }),
    }
    const isPlaced = country !== undefined || region !== undefined
    const issued = await client.nodes.issueJoinToken({ nodeName, ...(isPlaced ? { residency } : {}) })
    if (!issued.ok) return printFailure(terminal, issued.failure)
    if (text('output') === 'json') print(terminal, JSON.stringify(issued.value, null, 2))
    else print(terminal, issued.value.command ?? '')
    report(terminal, `works once, until ${issued.value.expiresAt}`)
    return EXIT.ok
  },
}
