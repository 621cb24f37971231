// The endpoints of the scaling policy of a deployment.

import {
  type Scaling,
  scalingShape,
  sentScalingShape,
  type WrittenScaling,
  writtenScalingShape,
} from '@holdfast/contract'
import { done, type Outcome } from '../../operations/caller.ts'
import { deleteScaling } from '../../operations/scaling/delete-scaling.ts'
import { readScaling } from '../../operations/scaling/read-scaling.ts'
import { type ScalingDeps, setScaling } from '../../operations/scaling/set-scaling.ts'
import { type ApiResponse, type Endpoint, endpoint, param, respondWith } from '../endpoint.ts'

const POLICY = '/api/v1/deployments/{name}/scaling'
const etagOf = ({ revision }: Pick<Scaling, 'revision'>): string => String(revision)

/** The response, with the server's changes to the request in the log line. */
function announced(written: WrittenScaling): Outcome<ApiResponse> {
  const { scaling, alterations, warnings } = written
  const notes = { deployment: scaling.deploymentName, alterations, warnings }
  return done({ status: 200, body: written, etag: etagOf(scaling), notes })
}

export const scalingEndpoints = (deps: ScalingDeps): Endpoint[] => [
  endpoint('GET', POLICY, {
    operation: 'getScalingPolicy',
    action: 'deployments:read',
    summary: 'Read the scaling policy of a deployment, what it wants now and why it does not act',
    shape: scalingShape,
    codes: ['deployment_not_found', 'scaling_policy_not_found'],
    run: (request) => readScaling(deps, request.caller.tenant, param(request, 'name')),
    etag: etagOf,
  }),
  endpoint('PUT', POLICY, {
    operation: 'setScalingPolicy',
    action: 'deployments:write',
    summary: 'Set the scaling policy of a deployment, or change the fields that are sent',
    headers: ['If-Match'],
    body: sentScalingShape,
    shape: writtenScalingShape,
    codes: [
      'deployment_not_found',
      'scaling_policy_invalid',
      'field_unknown',
      'field_type_invalid',
      'revision_conflict',
    ],
    async handle(request) {
      const { caller, body, ifMatch } = request
      const written = await setScaling(deps, caller, { path: param(request, 'name'), body, ifMatch })
      return respondWith(written, announced)
    },
  }),
  endpoint('DELETE', POLICY, {
    operation: 'deleteScalingPolicy',
    action: 'deployments:write',
    summary: 'Delete the scaling policy of a deployment; the number of replicas in its spec is used again',
    headers: ['If-Match'],
    status: 202,
    shape: scalingShape,
    codes: ['deployment_not_found', 'scaling_policy_not_found', 'revision_conflict'],
    run: (request) => deleteScaling(deps, request.caller, param(request, 'name'), request.ifMatch),
  }),
]
