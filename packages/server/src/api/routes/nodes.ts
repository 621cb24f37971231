// /api/v1/nodes: join tokens, enrollment, and the machines of a tenant. SPEC 2.8 and 4, DECISIONS 1 and 8.

import {
  enrolledShape,
  enrollmentShape,
  type IssuedJoinToken,
  issuedJoinTokenShape,
  list,
  machineContainerShape,
  type Node,
  newJoinTokenShape,
  nodeShape,
  object,
  pageShape,
} from '@holdfast/contract'
import type { Caller, Outcome } from '../../operations/caller.ts'
import type { Kept, KeptAnswer } from '../../operations/idempotency.ts'
import { changeNode, nodePatchShape, setSchedulable } from '../../operations/nodes/change-node.ts'
import type { NodeDeps } from '../../operations/nodes/deps.ts'
import { drainNode } from '../../operations/nodes/drain-node.ts'
import { enrollNode } from '../../operations/nodes/enroll-node.ts'
import { issueJoinToken, type JoinTokenDeps } from '../../operations/nodes/issue-join-token.ts'
import { getNode, listContainers, listNodes } from '../../operations/nodes/read-nodes.ts'
import { releaseClaim, removeNode } from '../../operations/nodes/release-node.ts'
import {
  type AnyEndpoint,
  answer,
  answerWith,
  type Endpoint,
  type OpenEndpoint,
  type OpenRequest,
  param,
} from '../endpoint.ts'
import { answerOnce, issueOnce, kept } from '../idempotent.ts'
import type { FailedJoins } from '../request/failed-attempts.ts'

const NODES = '/api/v1/nodes'
const ONE = '/api/v1/nodes/{id}'
const JOIN_TOKENS = '/api/v1/nodes/join-tokens'

export type NodeEndpointDeps = NodeDeps & JoinTokenDeps & { readonly failedJoins: FailedJoins }

export function nodeEndpoints(deps: NodeEndpointDeps): AnyEndpoint[] {
  return [
    joinTokenEndpoint(deps),
    enrollEndpoint(deps),
    ...readEndpoints(deps),
    ...nodeActions(deps).map((action) => actionEndpoint(deps, action)),
    changeEndpoint(deps),
    removeEndpoint(deps),
    releaseEndpoint(deps),
  ]
}

function joinTokenEndpoint(deps: NodeEndpointDeps): Endpoint {
  return {
    method: 'POST',
    path: JOIN_TOKENS,
    action: 'join-tokens:write',
    summary: 'Issue a join token for one machine; it is answered once, works once and for 15 minutes',
    query: [],
    headers: ['Idempotency-Key'],
    body: newJoinTokenShape,
    success: { status: 201, shape: issuedJoinTokenShape },
    codes: ['field_unknown', 'field_type_invalid', 'idempotency_key_reused'],
    handle: (request) =>
      issueOnce(deps.answers, request, JOIN_TOKENS, {
        withoutToken: ({ nodeName, expiresAt }: IssuedJoinToken) => ({ nodeName, expiresAt }),
        run: (once) => issueJoinToken(deps, request.caller, request.body, once),
      }),
  }
}

function enrollEndpoint(deps: NodeEndpointDeps): OpenEndpoint {
  return {
    method: 'POST',
    path: '/api/v1/nodes/enroll',
    credential: 'joinToken',
    summary: 'Make a machine a node of the tenant of its join token',
    query: [],
    headers: [],
    body: enrollmentShape,
    success: { status: 201, shape: enrolledShape },
    codes: [
      ...(['field_unknown', 'field_type_invalid', 'list_too_long'] as const),
      ...(['join_token_invalid', 'node_owned_by_another_tenant', 'quota_exceeded'] as const),
    ],
    waitSeconds: deps.failedJoins.waitSeconds,
    handle: (request) => enroll(deps, request),
  }
}

async function enroll(deps: NodeEndpointDeps, { body, address, requestId }: OpenRequest) {
  const outcome = await enrollNode(deps, body, requestId)
  const failed = !outcome.ok && outcome.rejections.some(({ code }) => code === 'join_token_invalid')
  if (failed) deps.failedJoins.note(address)
  return answerWith(outcome, (enrolled) => answer(201, enrolled))
}

function readEndpoints(deps: NodeEndpointDeps): Endpoint[] {
  const common = { method: 'GET', action: 'nodes:read', headers: [] } as const
  return [
    {
      ...common,
      path: NODES,
      summary: 'List the nodes of the tenant',
      query: ['limit', 'cursor'],
      success: { status: 200, shape: pageShape(nodeShape) },
      codes: [],
      handle: async ({ caller, query: { limit, cursor } }) =>
        answerWith(await listNodes(deps.store, caller.tenant, { limit, cursor }), (page) =>
          answer(200, page),
        ),
    },
    {
      ...common,
      path: ONE,
      summary: 'Read a node',
      query: [],
      success: { status: 200, shape: nodeShape },
      codes: ['node_not_found'],
      handle: async (request) =>
        answerWith(await getNode(deps.store, request.caller.tenant, param(request, 'id')), ({ node, etag }) =>
          answer(200, node, etag),
        ),
    },
    {
      ...common,
      path: `${ONE}/containers`,
      summary: 'List all containers of a machine, those of others too',
      query: [],
      success: { status: 200, shape: object({ items: list(machineContainerShape) }) },
      codes: ['node_not_found', 'job_node_candidates_unresolvable'],
      handle: async (request) =>
        answerWith(await listContainers(deps, request.caller.tenant, param(request, 'id')), (items) =>
          answer(200, items),
        ),
    },
  ]
}

interface NodeAction {
  readonly verb: 'cordon' | 'uncordon' | 'drain'
  readonly summary: string
  /** 202 where the work goes on after the answer. */
  readonly status: 200 | 202
  act(caller: Caller, id: string, once: Kept<Node>): Promise<Outcome<Node>>
}

const nodeActions = (deps: NodeEndpointDeps): readonly NodeAction[] => [
  {
    verb: 'cordon',
    summary: 'Let a node take no new work; what runs there stays',
    status: 200,
    act: (caller, id, once) => setSchedulable(deps, caller, id, false, once),
  },
  {
    verb: 'uncordon',
    summary: 'Let a node take new work again',
    status: 200,
    act: (caller, id, once) => setSchedulable(deps, caller, id, true, once),
  },
  {
    verb: 'drain',
    summary:
      'Let a node take no new work and move its replicas away, each when its successor is ready; uncordon ends it',
    status: 202,
    act: (caller, id, once) => drainNode(deps, caller, id, once),
  },
]

function actionEndpoint(deps: NodeEndpointDeps, { verb, summary, status, act }: NodeAction): Endpoint {
  const path = `${ONE}/${verb}`
  const answered = (node: Node): KeptAnswer => ({ status, body: node })
  return {
    method: 'POST',
    path,
    action: 'nodes:write',
    summary,
    query: [],
    headers: ['Idempotency-Key'],
    success: { status, shape: nodeShape },
    codes: ['node_not_found', 'idempotency_key_reused'],
    handle: (request) => {
      const id = param(request, 'id')
      return answerOnce(
        deps.answers,
        request,
        path.replace('{id}', id),
        (once) => act(request.caller, id, kept(once, answered)),
        answered,
      )
    },
  }
}

function changeEndpoint(deps: NodeEndpointDeps): Endpoint {
  return {
    method: 'PATCH',
    path: ONE,
    action: 'control-plane-nodes:write',
    summary: 'Say whether the control plane itself runs on a node',
    query: [],
    headers: ['If-Match'],
    body: nodePatchShape,
    success: { status: 200, shape: nodeShape },
    codes: ['node_not_found', 'field_unknown', 'field_type_invalid', 'revision_conflict'],
    handle: async (request) => {
      const { caller, body, ifMatch } = request
      return answerWith(await changeNode(deps, caller, param(request, 'id'), body, ifMatch), (node) =>
        answer(200, node),
      )
    },
  }
}

function removeEndpoint(deps: NodeEndpointDeps): Endpoint {
  return {
    method: 'DELETE',
    path: ONE,
    action: 'nodes:write',
    summary:
      'Remove a node once nothing of ours runs there; with force at once, for a machine that is dead or was broken into',
    query: ['force'],
    headers: ['If-Match'],
    success: { status: 202, shape: nodeShape },
    codes: ['node_not_found', 'revision_conflict'],
    handle: async (request) => {
      const { caller, query, ifMatch } = request
      const options = { force: query.force, ifMatch }
      return answerWith(await removeNode(deps, caller, param(request, 'id'), options), (node) =>
        answer(202, node),
      )
    },
  }
}

function releaseEndpoint(deps: NodeEndpointDeps): Endpoint {
  return {
    method: 'DELETE',
    path: '/api/v1/nodes/{nodeName}/claim',
    action: 'claims:release',
    tenantRequired: 'node_claim_release_no_tenant',
    summary: 'Release a machine, so that another tenant may enroll it',
    query: [],
    headers: [],
    success: { status: 202, shape: nodeShape },
    codes: ['node_claim_release_no_tenant', 'node_not_found'],
    handle: async (request) =>
      answerWith(await releaseClaim(deps, request.caller, param(request, 'nodeName')), (node) =>
        answer(202, node),
      ),
  }
}
