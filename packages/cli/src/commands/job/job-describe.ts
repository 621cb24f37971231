// `holdfast job describe`: the same as `holdfast describe job`.

import type { OnlineCommand } from '../../command.ts'
import { JOB_ARGUMENT, jobName } from '../../jobs/job-argument.ts'

const EVENTS = 10

export const jobDescribe: OnlineCommand = {
  name: 'job describe',
  summary: 'show the phase of a job, why it waits or how it ended, and its events',
  args: [JOB_ARGUMENT],
  examples: [['holdfast job describe migrate', 'Shows the newest job with that name.']],
  online: true,
  async run({ terminal, args }, client) {
    const { describeJob } = await import('./describe-job.ts')
    return describeJob(terminal, client, { name: jobName(args[0]), events: EVENTS })
  },
}
