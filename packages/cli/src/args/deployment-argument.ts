// The deployment argument of commands: `web`, or `deployment/web` as printed by `-o name`.

import type { ArgumentSpec } from '../command.ts'
import { DEPLOYMENT_KINDS } from './resource-names.ts'

export const DEPLOYMENT_ARGUMENT: ArgumentSpec = {
  name: 'deployment',
  summary: 'name of the deployment',
  completes: 'deployments',
}

export function deploymentName(typed = ''): string {
  const slash = typed.indexOf('/')
  return DEPLOYMENT_KINDS.includes(typed.slice(0, slash)) ? typed.slice(slash + 1) : typed
}
