// The deployment argument of commands: `web`, or `deployment/web` as printed by `-o name`.

import type { ArgumentSpec } from '../command.ts'

export const DEPLOYMENT_ARGUMENT: ArgumentSpec = {
  name: 'deployment',
  summary: 'name of the deployment',
  completes: 'deployments',
}

export const deploymentName = (typed = ''): string => typed.replace(/^deployment\//, '')
