// Two tenants with a token each, made over the real API with the platform's token.

import type { CliContexts } from './cli-contexts.ts'
import { type DevFolder, writePrivate } from './dev-folder.ts'
import type { Engines } from './start-engines.ts'
import type { DevNode } from './start-nodes.ts'
import type { RunningServer } from './start-server.ts'

export interface DevTenant {
  readonly id: string
  readonly name: string
  /** Of role tenant-admin. */
  readonly token: string
}

interface DevEnvironment {
  readonly baseUrl: string
  readonly platformToken: string
  /** `host:port`, as image references name it. */
  readonly registry: string
  readonly sampleImage: string
  readonly tenants: readonly DevTenant[]
  readonly nodes: readonly DevNode[]
  readonly cli: CliContexts
}

const NAMES = ['acme', 'globex']
const VALID_MS = 30 * 24 * 3_600_000

export async function makeTenants(server: RunningServer): Promise<DevTenant[]> {
  const tenants: DevTenant[] = []
  for (const name of NAMES) {
    const id = textOf(await post(server, '/api/v1/tenants', { name }), 'id')
    const wanted = {
      name: `${name} administrator`,
      role: 'tenant-admin',
      expiresAt: new Date(Date.now() + VALID_MS).toISOString(),
    }
    const issued = await post(server, `/api/v1/tenants/${id}/tokens`, wanted)
    tenants.push({ id, name, token: textOf(issued, 'token') })
  }
  return tenants
}

export function writeEnvironment(
  folder: DevFolder,
  { baseUrl, platformToken }: RunningServer,
  { registry, sampleImage }: Engines,
  tenants: readonly DevTenant[],
  nodes: readonly DevNode[],
  cli: CliContexts,
): void {
  const environment: DevEnvironment = {
    baseUrl,
    platformToken,
    registry: registry.host,
    sampleImage,
    tenants,
    nodes,
    cli,
  }
  writePrivate(folder.environment, `${JSON.stringify(environment, null, 2)}\n`)
}

async function post({ baseUrl, platformToken }: RunningServer, path: string, body: object): Promise<unknown> {
  const answer = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platformToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}

function textOf(value: unknown, name: string): string {
  const member = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const text = member.find(([key]) => key === name)?.[1]
  if (typeof text !== 'string') throw new TypeError(`an answer without "${name}"`)
  return text
}
