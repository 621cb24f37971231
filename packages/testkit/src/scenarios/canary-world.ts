// A platform with the routed deployment `web`, for tests of canaries over HTTP and with the CLI. Its agents have sessions and
// no engine: they report each container as ready, unless the test changes the report by the variable MODE of the container.

import { AGENT_CAPABILITIES, type Observation } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { type CliWorld, startCliWorld } from '../cli/start-world.ts'
import type { ApiClient } from '../platform/api-client.ts'

export interface CanaryWorld extends CliWorld {
  readonly api: ApiClient
  /** Differences from the report of a ready container, by the value of MODE in its environment. */
  readonly reports: Map<string, Partial<Observation>>
}

export async function startCanaryWorld(): Promise<CanaryWorld> {
  const reports: CanaryWorld['reports'] = new Map()
  const world = await startCliWorld(['canary-1', 'canary-2'], {
    capabilities: AGENT_CAPABILITIES,
    report: ({ template: { environment } }) => reports.get(environment['MODE'] ?? '') ?? {},
  })
  const api = world.platform.api(world.platform.acme.token)
  const created = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'web',
    image: world.platform.image,
    replicas: 2,
    routes: [{ host: 'web.test', path: '/', port: 8080 }],
  })
  if (created.status !== 201) throw new Error(`creating the deployment failed: ${created.text}`)
  return { ...world, api, reports }
}

/** Waits until the rollout of `web` has passed its watch window, so that a canary may start. */
export async function untilRolledOut(api: ApiClient): Promise<void> {
  const sent = { change: { environment: { MODE: 'probe' } }, replicas: 1, weight: 1 }
  let last = ''
  await waitUntil(
    async () => {
      const { status, text } = await api.post('/api/v1/deployments/web/canary?dryRun=true', sent)
      last = text
      return status === 200
    },
    {
      what: 'the deployment accepts a canary',
      timeoutMs: 45_000,
      intervalMs: 500,
      seen: () => last,
    },
  )
}
