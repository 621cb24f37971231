// What is reached from outside, and by whom it is answered.

import type { OnlineCommand } from '../command.ts'
import { OUTPUT_OPTION } from '../print/output.ts'
import { get } from './get.ts'

export const routeList: OnlineCommand = {
  name: 'route list',
  summary: 'list the hosts and paths that deployments are reached by',
  options: [OUTPUT_OPTION],
  examples: [['holdfast route list', 'Each with its deployment and how many replicas are ready.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['routes'] }, client),
}
