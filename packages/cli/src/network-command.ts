// Shared parts of the commands about networks.

import type { ArgumentSpec } from './command.ts'

export const NETWORK_ARGUMENT: ArgumentSpec = {
  name: 'network',
  summary: 'name or id of the network',
  completes: 'networks',
}

export const networkName = (typed = ''): string => typed.replace(/^(?:networks?|net)\//, '')
