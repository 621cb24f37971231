// `holdfast network delete`: deletes networks that no deployment names.

import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { NETWORK_ARGUMENT } from '../../network-command.ts'
import { waitOptions } from '../apply.ts'
import { remove } from '../delete.ts'

export const networkDelete: OnlineCommand = {
  name: 'network delete',
  summary: 'delete networks',
  details:
    'It is rejected while a deployment names the network, or while a container is still attached to it.',
  args: [{ ...NETWORK_ARGUMENT, many: true }],
  options: [DRY_RUN_OPTION, ...waitOptions('the networks are gone')],
  examples: [
    [
      'holdfast network delete backend --wait',
      'Deletes the network and waits until its node has removed it.',
    ],
  ],
  online: true,
  run: (invocation, client) => remove.run({ ...invocation, args: ['network', ...invocation.args] }, client),
}
