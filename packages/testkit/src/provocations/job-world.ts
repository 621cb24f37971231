// The node and the job that the rejections of jobs refer to.

import type { Code } from '@holdfast/contract'
import { EXAMPLE, type ExampleRequest } from '@holdfast/contract/examples'
import type { ApiAnswer } from '../platform/api-client.ts'
import { ownPlatform } from '../platform/shared-platform.ts'
import type { Platform } from '../platform/start-platform.ts'
import { openJobAgent } from '../session/job-agent.ts'
import { enrollVolumeNode } from '../session/volume-agent.ts'
import { type Replacement, replacementsOn } from './run-examples.ts'

/** The codes that only requests for jobs return. */
export const JOB_CODES = ['job_node_not_found', 'job_not_found'] as const satisfies readonly Code[]

export interface JobWorld {
  readonly platform: Platform
  /** Connects a node of acme, and creates a job. No controller runs, so the job stays as it is. */
  connect(): Promise<void>
  /** Sends an example as acme's administrator. */
  send(request: ExampleRequest): Promise<ApiAnswer>
  /** A text of a response with the names of the examples instead of the real ones. */
  asExample(text: string): string
  stop(): Promise<void>
}

export async function startJobWorld(): Promise<JobWorld> {
  const platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway'] } })
  const api = platform.api(platform.acme.token)
  let names: readonly Replacement[] = replacementsOn(platform)
  let close = (): void => undefined
  const real = (text: string) =>
    names.reduce((replaced, [example, name]) => replaced.replaceAll(example, name), text)
  return {
    platform,
    async connect() {
      const node = await enrollVolumeNode(platform.baseUrl, api, 'batch-1')
      const agent = await openJobAgent(platform.baseUrl, node, () => 'silent')
      close = agent.close
      const sent = { kind: 'Job', name: 'migrate', image: platform.image }
      const { status, body, text } = await api.post('/api/v1/jobs', sent)
      if (status !== 201) throw new Error(text)
      names = [...names, [EXAMPLE.node, node.nodeId], [EXAMPLE.job, String(Object(body['job']).id)]]
    },
    send: ({ method, path, body }) =>
      api.send(method, real(path), body === undefined ? undefined : real(JSON.stringify(body))),
    asExample: (text) => names.reduce((shown, [example, name]) => shown.replaceAll(name, example), text),
    async stop() {
      close()
      await platform.stop()
    },
  }
}
