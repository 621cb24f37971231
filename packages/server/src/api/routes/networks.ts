// The endpoints of networks, below /api/v1/networks.

import {
  type Network,
  networkShape,
  newNetworkShape,
  type WrittenNetwork,
  writtenNetworkShape,
} from '@holdfast/contract'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { createNetwork } from '../../operations/networks/create-network.ts'
import { deleteNetwork } from '../../operations/networks/delete-network.ts'
import type { NetworkDeps } from '../../operations/networks/deps.ts'
import { getNetwork, listNetworks } from '../../operations/networks/read-networks.ts'
import { type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'

const NETWORKS = '/api/v1/networks'
const ONE = `${NETWORKS}/{id}`

const etagOf = ({ revision }: Network): string => String(revision)

export const networkEndpoints = (deps: NetworkDeps): Endpoint[] => [
  listEndpoint(NETWORKS, {
    operation: 'listNetworks',
    action: 'networks:read',
    summary: 'List the networks of the tenant',
    item: networkShape,
    run: ({ caller, query }) => listNetworks(deps.store, caller.tenant, query),
  }),
  createEndpoint(deps),
  endpoint('GET', ONE, {
    operation: 'getNetwork',
    action: 'networks:read',
    summary: 'Read a network',
    shape: networkShape,
    codes: ['network_not_found'],
    run: (request) => getNetwork(deps.store, request.caller.tenant, param(request, 'id')),
    etag: etagOf,
  }),
  endpoint('DELETE', ONE, {
    operation: 'deleteNetwork',
    action: 'networks:write',
    summary:
      'Delete a network, unless a deployment names it; its name is free once its node has removed the network',
    headers: ['If-Match'],
    status: 202,
    shape: networkShape,
    codes: ['network_not_found', 'network_in_use', 'revision_conflict'],
    run: (request) => deleteNetwork(deps, request.caller, param(request, 'id'), request.ifMatch),
  }),
]

const created = (written: WrittenNetwork): KeptAnswer => ({
  status: 201,
  body: written,
  etag: etagOf(written.network),
})

const createEndpoint = (deps: NetworkDeps): Endpoint =>
  endpoint('POST', NETWORKS, {
    operation: 'createNetwork',
    action: 'networks:write',
    summary: 'Create a network on one node',
    headers: ['Idempotency-Key'],
    body: newNetworkShape,
    status: 201,
    shape: writtenNetworkShape,
    codes: [
      'network_option_unsupported_on_agent',
      'field_type_invalid',
      'name_required',
      'deployment_name_too_long',
      'deployment_name_invalid',
      'reserved_infrastructure_name',
      'list_too_long',
      'label_reserved',
      'network_exists',
      'network_node_candidates_unresolvable',
      'network_node_not_a_candidate',
      'network_node_required',
      'quota_exceeded',
      'idempotency_key_reused',
    ],
    handle: (request) =>
      respondOnce(
        deps.answers,
        request,
        NETWORKS,
        (once) => createNetwork(deps, request.caller, request.body, kept(once, created)),
        created,
      ),
  })
