// The endpoints below /api/v1/nodes: join tokens, enrollment, and the nodes of a tenant.

import {
  enrolledShape,
  enrollmentShape,
  type IssuedJoinToken,
  issuedJoinTokenShape,
  list,
  machineContainerShape,
  type Node,
  newJoinTokenShape,
  nodePatchShape,
  nodeReplicaShape,
  nodeShape,
  nodeSummaryShape,
  object,
  pageShape,
} from '@holdfast/contract'
import type { Caller, Outcome } from '../../operations/caller.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { changeNode, type NodeAct, setSchedulable } from '../../operations/nodes/change-node.ts'
import type { NodeDeps } from '../../operations/nodes/deps.ts'
import { drainNode } from '../../operations/nodes/drain-node.ts'
import { enrollNode } from '../../operations/nodes/enroll-node.ts'
import { issueJoinToken, type JoinTokenDeps } from '../../operations/nodes/issue-join-token.ts'
import {
  getNode,
  listContainers,
  listNodeReplicas,
  listNodeSummaries,
  listNodes,
  type ReadNodeDeps,
} from '../../operations/nodes/read-nodes.ts'
import { releaseClaim, removeNode } from '../../operations/nodes/release-node.ts'
import type { Page } from '../../operations/page.ts'
import {
  type AnyEndpoint,
  type Endpoint,
  endpoint,
  listEndpoint,
  type OpenEndpoint,
  type OpenRequest,
  param,
  respond,
  respondWith,
} from '../endpoint.ts'
import { issueOnce, kept, respondOnce } from '../idempotent.ts'
import { type FailedAttempts, limitFailure } from '../request/failed-attempts.ts'

const ONE = '/api/v1/nodes/{id}'
const JOIN_TOKENS = '/api/v1/nodes/join-tokens'

export type NodeEndpointDeps = NodeDeps &
  ReadNodeDeps &
  JoinTokenDeps & { readonly failedJoins: FailedAttempts }

export function nodeEndpoints(deps: NodeEndpointDeps): AnyEndpoint[] {
  return [
    joinTokenEndpoint(deps),
    enrollEndpoint(deps),
    ...readEndpoints(deps),
    ...nodeActions(deps).map((action) => actionEndpoint(deps, action)),
    ...writeEndpoints(deps),
  ]
}

function joinTokenEndpoint(deps: NodeEndpointDeps): Endpoint {
  return endpoint('POST', JOIN_TOKENS, {
    operation: 'createJoinToken',
    action: 'join-tokens:write',
    summary: 'Issue a join token for one machine; it is returned once and is valid once and for 15 minutes',
    headers: ['Idempotency-Key'],
    body: newJoinTokenShape,
    status: 201,
    shape: issuedJoinTokenShape,
    codes: ['field_unknown', 'field_type_invalid', 'idempotency_key_reused'],
    handle: (request) =>
      issueOnce(deps.answers, request, JOIN_TOKENS, {
        withoutToken: ({ nodeName, expiresAt }: IssuedJoinToken) => ({ nodeName, expiresAt }),
        run: (once) => issueJoinToken(deps, request.caller, request.body, once),
      }),
  })
}

function enrollEndpoint(deps: NodeEndpointDeps): OpenEndpoint {
  return {
    method: 'POST',
    path: '/api/v1/nodes/enroll',
    operation: 'enrollNode',
    credential: 'joinToken',
    summary: "Enroll a machine as a node of its join token's tenant",
    query: [],
    headers: [],
    body: enrollmentShape,
    success: { status: 201, shape: enrolledShape },
    codes: [
      'field_unknown',
      'field_type_invalid',
      'list_too_long',
      'join_token_invalid',
      'node_owned_by_another_tenant',
      'quota_exceeded',
    ],
    handle: (request) => enroll(deps, request),
  }
}

async function enroll(deps: NodeEndpointDeps, { body, address, requestId }: OpenRequest) {
  const enrolled = await enrollNode(deps, body, requestId)
  const credential = { code: 'join_token_invalid', field: 'joinToken' }
  const outcome = limitFailure(deps.failedJoins, address, enrolled, credential)
  return respondWith(outcome, (node) => respond(201, node))
}

function readEndpoints(deps: NodeEndpointDeps): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/nodes', {
      operation: 'listNodes',
      action: 'nodes:read',
      summary: 'List the nodes of the tenant, all or those that match; `view=summary` returns short items',
      query: ['limit', 'cursor', 'listView', 'q', 'nodeStatus', 'sort'],
      shape: pageShape(nodeShape),
      short: pageShape(nodeSummaryShape),
      run: ({ caller, query }): Promise<Outcome<Page<unknown>>> => {
        const list = { ...query, phase: query.nodeStatus }
        return query.listView === 'summary'
          ? listNodeSummaries(deps, caller.tenant, list)
          : listNodes(deps, caller.tenant, list)
      },
    }),
    listEndpoint(`${ONE}/replicas`, {
      operation: 'listNodeReplicas',
      action: 'nodes:read',
      summary: 'List the replicas of deployments and jobs on a node',
      item: nodeReplicaShape,
      codes: ['node_not_found'],
      run: (request) => listNodeReplicas(deps, request.caller.tenant, param(request, 'id'), request.query),
    }),
    endpoint('GET', ONE, {
      operation: 'getNode',
      action: 'nodes:read',
      summary: 'Read a node',
      shape: nodeShape,
      codes: ['node_not_found'],
      handle: async (request) =>
        respondWith(await getNode(deps, request.caller.tenant, param(request, 'id')), ({ node, etag }) =>
          respond(200, node, etag),
        ),
    }),
    endpoint('GET', `${ONE}/containers`, {
      operation: 'listNodeContainers',
      action: 'nodes:read',
      summary: 'List all containers of a node, including those that Holdfast does not manage',
      shape: object({ items: list(machineContainerShape) }),
      codes: ['node_not_found', 'job_node_candidates_unresolvable'],
      run: (request) => listContainers(deps, request.caller.tenant, param(request, 'id')),
    }),
  ]
}

interface NodeAction {
  readonly verb: 'cordon' | 'uncordon' | 'drain'
  readonly summary: string
  /** HTTP status of the response to the action; 202 if the action continues after the response. */
  readonly status: 200 | 202
  act(caller: Caller, id: string, once: NodeAct): Promise<Outcome<Node>>
}

const nodeActions = (deps: NodeEndpointDeps): readonly NodeAction[] => [
  {
    verb: 'cordon',
    summary: 'Place no new replicas on a node; running replicas stay',
    status: 200,
    act: (caller, id, once) => setSchedulable(deps, caller, id, false, once),
  },
  {
    verb: 'uncordon',
    summary: 'Allow new replicas on a node again',
    status: 200,
    act: (caller, id, once) => setSchedulable(deps, caller, id, true, once),
  },
  {
    verb: 'drain',
    summary:
      'Place no new replicas on a node and move its replicas away, each when its successor is ready; uncordon cancels it',
    status: 202,
    act: (caller, id, once) => drainNode(deps, caller, id, once),
  },
]

function actionEndpoint(deps: NodeEndpointDeps, { verb, summary, status, act }: NodeAction): Endpoint {
  const path = `${ONE}/${verb}`
  const toResponse = (node: Node): KeptAnswer => ({ status, body: node })
  return endpoint('POST', path, {
    operation: `${verb}Node`,
    action: 'nodes:write',
    summary,
    headers: ['If-Match', 'Idempotency-Key'],
    status,
    shape: nodeShape,
    codes: ['node_not_found', 'idempotency_key_reused', 'revision_conflict'],
    handle: (request) => {
      const id = param(request, 'id')
      const { ifMatch } = request
      return respondOnce(
        deps.answers,
        request,
        path.replace('{id}', id),
        (once) => act(request.caller, id, { ifMatch, ...kept(once, toResponse) }),
        toResponse,
      )
    },
  })
}

function writeEndpoints(deps: NodeEndpointDeps): Endpoint[] {
  return [
    endpoint('PATCH', ONE, {
      operation: 'updateNode',
      action: 'control-plane-nodes:write',
      summary: 'Set whether the control plane runs on a node',
      headers: ['If-Match'],
      body: nodePatchShape,
      shape: nodeShape,
      codes: ['node_not_found', 'field_unknown', 'field_type_invalid', 'revision_conflict'],
      run: (request) => changeNode(deps, request.caller, param(request, 'id'), request.body, request.ifMatch),
    }),
    endpoint('DELETE', ONE, {
      operation: 'deleteNode',
      action: 'nodes:write',
      summary:
        'Remove a node once no replicas run on it; with force at once, for a machine that is lost or compromised',
      query: ['force'],
      headers: ['If-Match'],
      status: 202,
      shape: nodeShape,
      codes: ['node_not_found', 'revision_conflict'],
      run: (request) => {
        const options = { force: request.query.force, ifMatch: request.ifMatch }
        return removeNode(deps, request.caller, param(request, 'id'), options)
      },
    }),
    endpoint('DELETE', '/api/v1/nodes/{nodeName}/claim', {
      operation: 'releaseNodeClaim',
      action: 'claims:release',
      tenantRequired: {
        missing: 'node_claim_release_no_tenant',
        malformed: 'node_claim_release_no_tenant',
      },
      summary: 'Release a machine, so that another tenant may enroll it',
      headers: ['If-Match'],
      status: 202,
      shape: nodeShape,
      codes: ['node_claim_release_no_tenant', 'node_not_found', 'revision_conflict'],
      run: (request) => releaseClaim(deps, request.caller, param(request, 'nodeName'), request.ifMatch),
    }),
  ]
}
