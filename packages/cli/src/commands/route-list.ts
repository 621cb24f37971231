// `holdfast route list`: lists the hosts and paths of deployments.

import type { OnlineCommand } from '../command.ts'
import { OUTPUT_OPTION } from '../print/output.ts'
import { get } from './get.ts'

export const routeList: OnlineCommand = {
  name: 'route list',
  aliases: ['route ls'],
  summary: 'list the routes of deployments by host and path',
  options: [OUTPUT_OPTION],
  examples: [['holdfast route list', 'Shows for each its deployment and the number of ready replicas.']],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['routes'] }, client),
}
