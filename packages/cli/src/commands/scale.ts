// `holdfast scale`: changes the number of replicas of a deployment.

import { DEPLOYMENT_ARGUMENT } from '../args/deployment-argument.ts'
import { WHOLE_NUMBER } from '../args/forms.ts'
import { CHANGE_OPTIONS, changeDeployment } from '../change-deployment.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'

export const scale: OnlineCommand = {
  name: 'scale',
  summary: 'change the number of replicas of a deployment',
  details:
    'With 0 replicas the deployment is stopped and keeps its settings. A deployment with a scaling policy uses the number once the policy is deleted.',
  args: [
    DEPLOYMENT_ARGUMENT,
    { name: 'replicas', summary: 'number of replicas; 0 stops the deployment', optional: true },
  ],
  options: [
    { flags: '--replicas <number>', summary: 'number of replicas, instead of the argument' },
    ...CHANGE_OPTIONS,
  ],
  examples: [
    ['holdfast scale web 5 --wait', 'Runs five replicas of web and waits until they are ready.'],
    ['holdfast scale web 0', 'Stops web.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const typed = text('replicas') ?? args[1]
    const problem = problemOf(text('replicas'), args[1])
    if (problem !== undefined) {
      // The number may be typed as web=3.
      const [name, number = ''] = (args[0] ?? '').split('=')
      const example = WHOLE_NUMBER.test(number) ? number : '5'
      printError(terminal, `${problem}, for example: holdfast scale ${name} ${example}`)
      return EXIT.usage
    }
    const replicas = Number(typed)
    return changeDeployment(invocation, client, (before) => ({
      sent: { replicas },
      outcome: `scaled from ${before.replicas} to ${replicas}`,
    }))
  },
}

function problemOf(option: string | undefined, argument: string | undefined): string | undefined {
  if (option !== undefined && argument !== undefined) return 'the number of replicas is given twice'
  const typed = option ?? argument
  if (typed === undefined) return 'no number of replicas given'
  return WHOLE_NUMBER.test(typed) ? undefined : `"${typed}" is not a whole number`
}
