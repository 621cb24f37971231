// `holdfast scaling show`: the scaling policy of a deployment, what it wants, and why it does not act.

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { outArea } from '../../print/area.ts'
import { printFailure } from '../../print/failure.ts'
import { yamlText } from '../../print/output.ts'
import { policyText, scalingText } from '../../print/scaling.ts'
import { factLines } from '../../print/sections.ts'
import { print } from '../../terminal/terminal.ts'

export const scalingShow: OnlineCommand = {
  name: 'scaling show',
  summary: 'show the scaling policy of a deployment and why it does not act',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    {
      flags: '-o, --output <form>',
      summary: 'print the policy as the API returns it',
      choices: ['json', 'yaml'],
    },
  ],
  examples: [
    ['holdfast scaling show web', 'Shows the policy, the measured usage and the wanted number.'],
    ['holdfast scaling show web -o json', 'Prints the policy for a script.'],
  ],
  online: true,
  async run({ terminal, args, text }, client) {
    const name = deploymentName(args[0])
    const read = await client.scaling.read(name)
    if (!read.ok) return printFailure(terminal, read.failure)
    const scaling = read.value
    const form = text('output')
    if (form === 'json') print(terminal, JSON.stringify(scaling, null, 2))
    if (form === 'yaml') terminal.out(await yamlText(scaling))
    if (form !== undefined) return EXIT.ok
    const { status } = scaling
    const nowMs = terminal.now()
    const facts: [name: string, value: string][] = [
      ['Deployment', name],
      ['Policy', policyText(scaling)],
      ['Replicas', `${status.desired} desired, ${status.ready} ready, ${status.measured} measured`],
      ['Wanted', status.wanted === null ? 'unknown' : String(status.wanted)],
      ['State', scalingText(status)],
      ['Unknown nodes', status.unreachable.join(', ')],
      [
        'Last scaled',
        status.scaledAt === null ? 'never' : `${status.scaledAt} (${age(status.scaledAt, nowMs)} ago)`,
      ],
    ]
    terminal.out(`${factLines(facts, outArea(terminal)).join('\n')}\n`)
    return EXIT.ok
  },
}
