// Why is a replica nowhere?

import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { POINT_IN_TIME, pointInTime } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { printFailure } from '../print/failure.ts'
import { matrixLines } from '../print/matrix.ts'
import { yamlText } from '../print/output.ts'
import { plain } from '../print/plain.ts'
import { print } from '../terminal/terminal.ts'

export const why: OnlineCommand = {
  name: 'why',
  summary: 'show why a deployment is where it is: every node, every reason, what would cure it',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '--at <time>', summary: 'as it was then: a time, or how long ago', form: POINT_IN_TIME },
    {
      flags: '-o, --output <form>',
      summary: 'how to show it (default: table)',
      choices: ['table', 'json', 'yaml'],
    },
  ],
  examples: [
    ['holdfast why web', 'What keeps it from a node now.'],
    ['holdfast why web --at 10m', 'What did ten minutes ago.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const at = text('at')
    const time = at === undefined ? undefined : pointInTime(at, terminal.now())
    const read = await client.deployments.why(deploymentName(typed), time)
    if (!read.ok) return printFailure(terminal, read.failure)
    if (text('output') === 'json') print(terminal, JSON.stringify(read.value, null, 2))
    else if (text('output') === 'yaml') terminal.out(await yamlText(read.value))
    else {
      const { phase, decidedAt } = read.value
      print(terminal, plain(`${phase}${decidedAt === null ? '' : `, decided at ${decidedAt}`}`))
      const lines = [plain(read.value.summary), ...matrixLines(read.value, outArea(terminal))]
      terminal.out(`${lines.join('\n')}\n`)
    }
    return EXIT.ok
  },
}
