// `holdfast set image`: changes the image of a deployment.

import { DEPLOYMENT_ARGUMENT } from '../../args/deployment-argument.ts'
import { CHANGE_OPTIONS, changeDeployment } from '../../change-deployment.ts'
import type { OnlineCommand } from '../../command.ts'

export const setImage: OnlineCommand = {
  name: 'set image',
  summary: 'change the image of a deployment and roll it out',
  args: [DEPLOYMENT_ARGUMENT, { name: 'image', summary: 'image with a tag or digest' }],
  options: CHANGE_OPTIONS,
  examples: [
    ['holdfast set image web registry.example.com/shop/web:1.5 --wait', 'Updates web and waits.'],
    ['holdfast set image web registry.example.com/shop/web:1.5 --dry-run', 'Shows the steps of the update.'],
  ],
  online: true,
  run(invocation, client) {
    // A container name before the image, as in kubectl, has no meaning here: a replica is one container.
    const image = (invocation.args[1] ?? '').replace(/^[\w-]+=/, '')
    return changeDeployment(invocation, client, () => ({ sent: { image }, outcome: 'updated' }))
  },
}
