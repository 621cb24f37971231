// Endpoints that read how much nodes and deployments use.

import { deploymentMetricsShape, nodeMetricsShape } from '@holdfast/contract'
import {
  type MetricsDeps,
  readDeploymentMetrics,
  readNodeMetrics,
} from '../../operations/usage/read-metrics.ts'
import { type Endpoint, endpoint, param } from '../endpoint.ts'

export function usageEndpoints(deps: MetricsDeps): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/deployments/{name}/metrics', {
      operation: 'getDeploymentMetrics',
      action: 'deployments:read',
      query: ['since'],
      summary:
        'Read how much CPU, memory and network the replicas of a deployment used in the last hour, or since a later time',
      shape: deploymentMetricsShape,
      codes: ['deployment_not_found'],
      run: (request) =>
        readDeploymentMetrics(deps, request.caller.tenant, param(request, 'name'), request.query.since),
    }),
    endpoint('GET', '/api/v1/nodes/{id}/metrics', {
      operation: 'getNodeMetrics',
      action: 'nodes:read',
      query: ['since'],
      summary: 'Read how much a node and its replicas used in the last hour, or since a later time',
      shape: nodeMetricsShape,
      codes: ['node_not_found'],
      run: (request) =>
        readNodeMetrics(deps, request.caller.tenant, param(request, 'id'), request.query.since),
    }),
  ]
}
