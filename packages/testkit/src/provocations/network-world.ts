// The networks, nodes and deployments that the rejections of networks refer to.

import type { Code } from '@holdfast/contract'
import { EXAMPLE, type ExampleRequest } from '@holdfast/contract/examples'
import { makeNode } from '../nodes/enroll.ts'
import type { ApiAnswer } from '../platform/api-client.ts'
import { ownPlatform } from '../platform/shared-platform.ts'
import type { Platform } from '../platform/start-platform.ts'
import { type Replacement, replacementsOn } from './run-examples.ts'

/** The codes that requests for networks return. The first is returned before nodes are enrolled. */
export const NETWORK_CODES = [
  'network_node_candidates_unresolvable',
  'network_node_not_a_candidate',
  'network_node_required',
  'network_option_unsupported_on_agent',
  'network_not_found',
  'network_exists',
  'network_in_use',
] as const satisfies readonly Code[]

export interface NetworkWorld {
  readonly platform: Platform
  /** Enrolls two nodes of acme and creates two networks on the first; the deployment `orders` names one of them. */
  enroll(): Promise<void>
  /** Sends an example as acme's administrator. */
  send(request: ExampleRequest): Promise<ApiAnswer>
  /** A text of a response with the names of the examples instead of the real ones. */
  asExample(text: string): string
}

export async function startNetworkWorld(): Promise<NetworkWorld> {
  const platform = await ownPlatform()
  const api = platform.api(platform.acme.token)
  let names: readonly Replacement[] = replacementsOn(platform)
  const real = (text: string) =>
    names.reduce((replaced, [example, name]) => replaced.replaceAll(example, name), text)
  const create = async (path: string, body: object): Promise<ApiAnswer['body']> => {
    const answer = await api.post(path, body)
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.body
  }
  const createNetwork = async (name: string, nodeId: string): Promise<string> => {
    const { network } = await create('/api/v1/networks', { name, nodeId })
    return String(Object(network).id)
  }
  return {
    platform,
    async enroll() {
      const node = await makeNode(platform.baseUrl, api, 'wired-1')
      const other = await makeNode(platform.baseUrl, api, 'wired-2')
      const backend = await createNetwork('backend', node)
      names = [
        ...names,
        [EXAMPLE.node, node],
        [EXAMPLE.primaryNode, other],
        [EXAMPLE.network, backend],
        [EXAMPLE.unusedNetwork, await createNetwork('unused', node)],
      ]
      const orders = { kind: 'Deployment', name: 'orders', image: platform.image, replicas: 0 }
      await create('/api/v1/deployments', { ...orders, networks: ['backend'] })
    },
    send: ({ method, path, body }) =>
      api.send(method, real(path), body === undefined ? undefined : real(JSON.stringify(body))),
    asExample: (text) => names.reduce((shown, [example, name]) => shown.replaceAll(name, example), text),
  }
}
