// How a deployment is named on the command line: `web`, or `deployment/web` as `-o name` prints it.

import type { ArgumentSpec } from '../command.ts'

export const DEPLOYMENT_ARGUMENT: ArgumentSpec = {
  name: 'deployment',
  summary: 'its name',
  completes: 'deployments',
}

export const deploymentName = (typed = ''): string => typed.replace(/^deployment\//, '')
