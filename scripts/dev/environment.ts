// `.dev/env.json`: the addresses, tokens and nodes of the development platform, for people and scripts.

import { readFileSync } from 'node:fs'
import type { CliContexts } from './cli-contexts.ts'
import type { DevTenant } from './create-tenants.ts'
import { type DevFolder, writePrivate } from './dev-folder.ts'
import type { DevNode } from './start-nodes.ts'

interface DevEnvironment {
  readonly baseUrl: string
  /** Address of the dashboard; at localhost, because browsers sign in only there or over https. */
  readonly dashboard: string
  readonly platformToken: string
  /** `host:port` of the registry, in the form that image references use. */
  readonly registry: string
  readonly sampleImage: string
  readonly tenants: readonly DevTenant[]
  readonly nodes: readonly DevNode[]
  readonly cli: CliContexts
}

export function writeEnvironment(folder: DevFolder, environment: DevEnvironment): void {
  writePrivate(folder.environment, `${JSON.stringify(environment, null, 2)}\n`)
}

/** The parts of `.dev/env.json` that dev:up and dev:down print. */
interface EnvironmentSummary {
  readonly baseUrl: string
  readonly dashboard: string
  /** The address of the first node's Caddy; undefined on a platform without nodes. */
  readonly edge: string | undefined
  readonly cli: CliContexts
}

export function readEnvironment({ environment }: DevFolder): EnvironmentSummary {
  const { baseUrl, dashboard, nodes, cli } = JSON.parse(readFileSync(environment, 'utf8'))
  return { baseUrl: String(baseUrl), dashboard: String(dashboard), edge: nodes?.[0]?.edge, cli }
}
