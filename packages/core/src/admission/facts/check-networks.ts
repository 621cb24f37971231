// Checks the networks that a deployment names: each exists, and all are on one node, because a replica runs on one node.

import { type DeploymentSpec, elementPath, type Rejection } from '@holdfast/contract'
import { reject } from '../../reject.ts'
import type { Facts } from './facts.ts'

const ONE_NODE = 'A network exists on one node, and a replica runs on one node.'

export function checkNetworks(
  { networks = [] }: Pick<DeploymentSpec, 'networks'>,
  known: NonNullable<Facts['networks']>,
): Rejection[] {
  const first = networks.map((name) => known.get(name)).find((network) => network !== undefined)
  return networks.flatMap((name, index) => {
    const field = elementPath('networks', index)
    const network = known.get(name)
    if (network === undefined) return [reject('network_not_found', field, name)]
    if (network.nodeId === first?.nodeId) return []
    const accepted = `a network on the same node as the others, ${first?.nodeName ?? ''}; ${name} is on ${network.nodeName}`
    return [{ ...reject('placement_invalid', field, name, { accepted }), why: ONE_NODE }]
  })
}
