// Examples of the codes that requests for networks return.

import { type CodeExample, EXAMPLE } from './example.ts'

const NETWORKS = '/api/v1/networks'
const ONE = `${NETWORKS}/${EXAMPLE.network}`
const create = (body: { readonly [field: string]: string | boolean | object }) => ({
  method: 'POST' as const,
  path: NETWORKS,
  body: JSON.parse(JSON.stringify(body)),
})
const network = { name: 'reports', driver: 'bridge', internal: true, nodeId: EXAMPLE.node }
const EXISTING = `The network backend exists and has the id ${EXAMPLE.network}.`

export const networkExamples = {
  network_node_candidates_unresolvable: {
    field: 'nodeId',
    fails: create(network),
    given: 'The tenant has no enrolled node.',
    params: {},
  },
  network_node_not_a_candidate: {
    field: 'nodeId',
    fails: create({ ...network, nodeId: 'node_01JD0000000000000000000000' }),
    passes: create(network),
    params: {},
  },
  network_node_required: {
    field: 'nodeId',
    fails: create({ name: 'reports', internal: true }),
    passes: create(network),
    given: `The tenant has two schedulable nodes, ${EXAMPLE.node} and ${EXAMPLE.primaryNode}.`,
    params: { nodes: `${EXAMPLE.node}, ${EXAMPLE.primaryNode}`, count: 2 },
  },
  network_option_unsupported_on_agent: {
    field: 'ipam',
    fails: create({ ...network, ipam: { subnet: '10.0.0.0/24' } }),
    passes: create(network),
    params: { accepted: 'only name, driver, labels, internal and nodeId' },
  },
  network_not_found: {
    field: 'id',
    fails: { method: 'GET', path: `${NETWORKS}/net_01JD0000000000000000000000` },
    passes: { method: 'GET', path: ONE },
    given: EXISTING,
    params: {},
  },
  network_exists: {
    field: 'name',
    fails: create({ ...network, name: 'backend' }),
    passes: create(network),
    given: EXISTING,
    params: {},
  },
  network_in_use: {
    field: 'id',
    fails: { method: 'DELETE', path: ONE },
    passes: { method: 'DELETE', path: `${NETWORKS}/${EXAMPLE.unusedNetwork}` },
    given: `The deployment orders names the network ${EXAMPLE.network}, and nothing names ${EXAMPLE.unusedNetwork}.`,
    params: { consumers: 'orders' },
  },
} satisfies { [code: string]: CodeExample }
