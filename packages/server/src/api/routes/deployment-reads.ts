// What is known of a deployment beside its record: how it fares, where it is, and why a replica is nowhere. DECISIONS 1.

import { list, object, placementEntryShape, statusWithTimelineShape, whyShape } from '@holdfast/contract'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import { readPlacements } from '../../operations/deployments/read/read-placements.ts'
import { readStatus } from '../../operations/deployments/read/read-status.ts'
import { readWhy } from '../../operations/deployments/read/read-why.ts'
import { answer, answerWith, type Endpoint, param } from '../endpoint.ts'

const ONE = '/api/v1/deployments/{name}'

export function deploymentReadEndpoints(deps: DeploymentDeps): Endpoint[] {
  const { store } = deps
  const common = {
    method: 'GET',
    action: 'deployments:read',
    query: [],
    headers: [],
    codes: ['deployment_not_found'],
  } as const
  return [
    {
      ...common,
      path: `${ONE}/status`,
      summary:
        'Read how a deployment fares and what happened to it and to its nodes: one line for each event, newest first, at most 50',
      success: { status: 200, shape: statusWithTimelineShape },
      handle: async (request) =>
        answerWith(await readStatus(store, request.caller.tenant, param(request, 'name')), (status) =>
          answer(200, status),
        ),
    },
    {
      ...common,
      path: `${ONE}/placements`,
      summary: 'Read where the replicas of a deployment are',
      success: { status: 200, shape: object({ items: list(placementEntryShape) }) },
      handle: async (request) =>
        answerWith(await readPlacements(store, request.caller.tenant, param(request, 'name')), (entries) =>
          answer(200, entries),
        ),
    },
    {
      ...common,
      path: `${ONE}/why`,
      query: ['at'],
      summary:
        'Read why a replica of a deployment is nowhere: every node with every reason, now or at an earlier time',
      success: { status: 200, shape: whyShape },
      handle: async (request) =>
        answerWith(
          await readWhy(deps, request.caller.tenant, param(request, 'name'), request.query.at),
          (why) => answer(200, why),
        ),
    },
  ]
}
