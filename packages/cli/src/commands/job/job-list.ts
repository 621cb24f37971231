// `holdfast job list`: the same as `holdfast get jobs`.

import type { OnlineCommand } from '../../command.ts'
import { OUTPUT_OPTION } from '../../print/output.ts'
import { get } from '../get.ts'

export const jobList: OnlineCommand = {
  name: 'job list',
  summary: 'list the jobs of the tenant, the newest first',
  details: 'Jobs that have ended are listed until the platform deletes them, after 7 days by default.',
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast job list', 'Lists all jobs with their phases and exit codes.'],
    ['holdfast job list -o json', 'Prints the same as data.'],
  ],
  online: true,
  run: (invocation, client) => get.run({ ...invocation, args: ['jobs'] }, client),
}
