// Endpoints that read the status of a deployment, its placements, why a replica is not placed, and when that changed.

import {
  decisionShape,
  list,
  object,
  pageShape,
  placementEntryShape,
  statusWithTimelineShape,
  whyShape,
} from '@holdfast/contract'
import type { DeploymentDeps } from '../../../operations/deployments/deps.ts'
import { listDecisions } from '../../../operations/deployments/read/list-decisions.ts'
import { readPlacements } from '../../../operations/deployments/read/read-placements.ts'
import { readStatus } from '../../../operations/deployments/read/read-status.ts'
import { readWhy } from '../../../operations/deployments/read/read-why.ts'
import { readTimeRange } from '../../../operations/events/time-range.ts'
import { type Endpoint, endpoint, param } from '../../endpoint.ts'

const ONE = '/api/v1/deployments/{name}'

export function deploymentReadEndpoints(deps: DeploymentDeps): Endpoint[] {
  const { store } = deps
  return [
    endpoint('GET', `${ONE}/status`, {
      operation: 'getDeploymentStatus',
      action: 'deployments:read',
      summary:
        'Read the status of a deployment and the recent events of it and its nodes, newest first, at most 50',
      shape: statusWithTimelineShape,
      codes: ['deployment_not_found'],
      run: (request) => readStatus(store, request.caller.tenant, param(request, 'name')),
    }),
    endpoint('GET', `${ONE}/placements`, {
      operation: 'listPlacements',
      action: 'deployments:read',
      summary: 'Read on which nodes the replicas of a deployment are placed',
      shape: object({ items: list(placementEntryShape) }),
      codes: ['deployment_not_found'],
      run: (request) => readPlacements(store, request.caller.tenant, param(request, 'name')),
    }),
    endpoint('GET', `${ONE}/decisions`, {
      operation: 'listDecisions',
      action: 'deployments:read',
      query: ['since', 'until', 'limit', 'cursor'],
      summary:
        'List the times at which the explanation of a deployment changed, newest first; `why?at=` explains each in full',
      shape: pageShape(decisionShape),
      codes: ['deployment_not_found'],
      run: (request) => {
        const { query, caller } = request
        const times = readTimeRange(query, deps.clock.now())
        return listDecisions(store, caller.tenant, param(request, 'name'), { ...query, times })
      },
    }),
    endpoint('GET', `${ONE}/why`, {
      operation: 'explainPlacement',
      action: 'deployments:read',
      query: ['at', 'view', 'limit', 'cursor'],
      summary:
        'Read why a deployment does not run: the containers that fail, and every node with every reason against it, now or at an earlier time',
      shape: whyShape,
      codes: ['deployment_not_found'],
      run: (request) => readWhy(deps, request.caller.tenant, param(request, 'name'), request.query),
    }),
  ]
}
