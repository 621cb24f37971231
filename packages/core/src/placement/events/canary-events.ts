// The events of a canary that a plan advances: its observation passed, or it was aborted because a replica failed.

import { type CanaryProgress, defined } from '@holdfast/contract'
import { canaryFailureText } from '../../canary/canary-text.ts'
import type { PlacementEvent, PlacementPlan } from '../placement-plan.ts'
import { type NodeName, refusalData } from './event-texts.ts'

export function canaryEvents(
  { deployment, canary, canaryRefused }: Pick<PlacementPlan, 'deployment' | 'canary' | 'canaryRefused'>,
  nodeName: NodeName,
): Omit<PlacementEvent, 'subject'>[] {
  const before = deployment.canary
  if (canary === undefined || before === undefined || canary.phase === before.phase) return []
  if (canary.phase === 'ready') return [readyEvent(canary)]
  return canary.phase === 'aborted' ? [failedEvent(canary, canaryRefused, nodeName)] : []
}

function readyEvent({ replicas, weight, since, observe }: CanaryProgress): Omit<PlacementEvent, 'subject'> {
  const verb =
    replicas === 1 ? 'The replica of the canary has' : `The ${replicas} replicas of the canary have`
  return {
    type: 'deployment.canary_ready',
    severity: 'info',
    cause: since,
    reason: 'observed',
    message: `${verb} served for ${observe} without a failure. Promote or abort the canary.`,
    data: { replicas, weight },
  }
}

function failedEvent(
  { reason, since, failures }: CanaryProgress,
  refused: PlacementPlan['canaryRefused'],
  nodeName: NodeName,
): Omit<PlacementEvent, 'subject'> {
  const { replica = 0, nodeId, cause } = failures.at(-1) ?? {}
  const isRefused = refused !== undefined && reason === 'unschedulable'
  const refusal = isRefused ? ` ${refused.summary}` : ''
  const why = cause === undefined ? refusal : ` Cause: ${cause}.`
  const on = nodeId === undefined ? '' : ` on ${nodeName(nodeId)}`
  return {
    type: 'deployment.canary_aborted',
    severity: 'warning',
    cause: since,
    reason,
    message: `The canary was aborted: ${canaryFailureText(reason, `${replica}${on}`)}.${why} The other replicas keep serving.`,
    data: {
      replica,
      ...defined({ nodeId, nodeName: nodeId && nodeName(nodeId), cause }),
      ...(isRefused ? refusalData(refused) : {}),
    },
  }
}
