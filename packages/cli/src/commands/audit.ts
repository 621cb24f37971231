// `holdfast audit`: lists who changed what and when.

import { deploymentName } from '../args/deployment-argument.ts'
import type { OnlineCommand } from '../command.ts'
import { OUTPUT_OPTION } from '../print/output.ts'
import { get } from './get.ts'

export const audit: OnlineCommand = {
  name: 'audit',
  summary: 'list who changed what and when, newest last',
  details: 'holdfast history NAME lists the fields that each revision of a deployment changed.',
  args: [
    {
      name: 'name',
      summary: 'only entries of one resource, such as a deployment',
      optional: true,
      completes: 'deployments',
    },
  ],
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast audit', 'Lists all entries of the tenant.'],
    ['holdfast audit web', 'Lists the entries of web, with the revision that each change stored.'],
  ],
  online: true,
  run: (invocation, client) =>
    get.run({ ...invocation, args: ['audit', ...invocation.args.map(deploymentName)] }, client),
}
