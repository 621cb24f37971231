// `holdfast scaling set`: sets the scaling policy of a deployment, or changes parts of it.

import type { SentScaling } from '@holdfast/client'
import { defined } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import { WHOLE_NUMBER } from '../../args/forms.ts'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printAnnounced } from '../../print/changes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { policyText } from '../../print/scaling.ts'
import { print } from '../../terminal/terminal.ts'

export const scalingSet: OnlineCommand = {
  name: 'scaling set',
  summary: 'let the usage decide how many replicas a deployment has',
  details:
    'A new policy needs --min, --max and --cpu or --memory. An existing one keeps what is not given. The deployment must request what is measured, in resources.',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '--min <number>', summary: 'least number of replicas', form: WHOLE_NUMBER },
    { flags: '--max <number>', summary: 'largest number of replicas', form: WHOLE_NUMBER },
    {
      flags: '--cpu <percent>',
      summary: 'percent of the requested CPU that a replica should use',
      form: WHOLE_NUMBER,
    },
    {
      flags: '--memory <percent>',
      summary: 'percent of the requested memory that a replica should use',
      form: WHOLE_NUMBER,
    },
    {
      flags: '--scale-down-delay <duration>',
      summary: 'how long the usage must be lower before replicas are removed (default: 300s)',
    },
    DRY_RUN_OPTION,
  ],
  examples: [
    [
      'holdfast scaling set web --min 2 --max 10 --cpu 60',
      'Runs 2 to 10 replicas of web, so that each uses about 60 % of its requested CPU.',
    ],
    ['holdfast scaling set web --max 20 --dry-run', 'Shows what a higher maximum would change.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const name = deploymentName(args[0])
    const body = bodyOf(invocation)
    if (typeof body === 'number') return body
    if (flag('dry-run')) {
      const planned = await client.scaling.dryRuns.set(name, body)
      return printPlanned(terminal, `deployment/${name}`, 'scaled by a policy', planned, name)
    }
    const written = await client.scaling.set(name, body)
    if (!written.ok) return printFailure(terminal, written.failure)
    printAnnounced(terminal, written.value, { verbose: flag('verbose') })
    print(terminal, `deployment/${name} is scaled by a policy: ${policyText(written.value.scaling)}`)
    return EXIT.ok
  },
}

/** The fields to send, or an exit code after the problem was printed. */
function bodyOf({ terminal, text }: Invocation): SentScaling | ExitCode {
  const cpu = text('cpu')
  const memory = text('memory')
  if (cpu !== undefined && memory !== undefined) {
    printError(terminal, 'a policy measures one thing: give --cpu or --memory, not both')
    return EXIT.usage
  }
  const percent = cpu ?? memory
  const metric = cpu === undefined ? 'memory' : 'cpu'
  return {
    ...defined({ min: numberOf(text('min')), max: numberOf(text('max')) }),
    ...(percent === undefined ? {} : { metric, targetPercent: Number(percent) }),
    ...defined({ scaleDownDelay: text('scale-down-delay') }),
  }
}

const numberOf = (typed: string | undefined): number | undefined =>
  typed === undefined ? undefined : Number(typed)
