// Explains in words the number that a scaling policy wants, and why the policy does not act.

import type { ScalingPolicy, ScalingReason } from '@holdfast/contract'
import type { ScalingDecision, ScalingFacts } from './decide-scaling.ts'

type Known = Pick<ScalingFacts, 'ready' | 'measured' | 'room'>
type Text = (policy: ScalingPolicy, facts: Known, decision: ScalingDecision) => string

const WORDS = { cpu: 'CPU', memory: 'memory' } as const

export const replicaCount = (count: number): string => `${count} ${count === 1 ? 'replica' : 'replicas'}`

const TEXTS: { readonly [reason in ScalingReason]: Text } = {
  scale_up: (_policy, _facts, { desired }) =>
    `${replicaCount(desired)} ${desired === 1 ? 'is' : 'are'} desired from the next round on.`,
  scale_down: (_policy, _facts, { desired }) =>
    `${replicaCount(desired)} ${desired === 1 ? 'is' : 'are'} desired from the next round on.`,
  steady: () => 'The number of replicas stays.',
  at_min: ({ min }) => `The number stays at ${min}, the minimum.`,
  at_max: ({ max }) => `The number stays at ${max}, the maximum. Raise max if more replicas should run.`,
  scale_down_delay: ({ scaleDownDelay }) =>
    `Replicas are removed once every value of ${scaleDownDelay} agrees.`,
  no_samples: (_policy, { ready, measured }) =>
    `The number stays, because the usage is unknown: ${measured} of ${replicaCount(ready)} ${measured === 1 ? 'has' : 'have'} a sample of the last minute, and more than half must have one. Check the agents of their nodes and the other server replicas.`,
  not_ready: () => 'The number stays, because no replica is ready and the usage is unknown.',
  no_request: ({ metric }) =>
    `The number stays, because the deployment requests no ${WORDS[metric]}. Set resources.${metric === 'cpu' ? 'cpuMillis' : 'memoryBytes'}, or choose another metric.`,
  unplaced: () =>
    'No replica is added, because a desired one has no node yet. `holdfast why` shows the reasons for every node.',
  quota: () =>
    "No replica is added, because the tenant's quota of containers is reached. Raise the quota, or stop other containers.",
  rollout: () => 'The number stays until the rollout and its watch window are over.',
  rollout_paused: () =>
    'The number stays, because the update failed and is paused. Apply a new revision or roll back.',
  drain: () => 'No replica is removed while a node with replicas is drained.',
  stopped: () =>
    'The deployment is stopped: its spec has 0 replicas. Set replicas above 0 to start it again.',
}

/** One or two sentences: the measurement and the wanted number, if they are known, and what follows. */
export function explainScaling(policy: ScalingPolicy, facts: Known, decision: ScalingDecision): string {
  const { measuredPercent, wanted, reason } = decision
  const text = TEXTS[reason](policy, facts, decision)
  if (measuredPercent === null || wanted === null) return text
  return `${usageText(policy, measuredPercent)}: ${replicaCount(wanted)} wanted. ${text}`
}

/** The measurement beside the target, as the beginning of a sentence. */
export const usageText = (
  { metric, targetPercent }: Pick<ScalingPolicy, 'metric' | 'targetPercent'>,
  measuredPercent: number,
): string =>
  `The ready replicas use ${measuredPercent} % of their requested ${WORDS[metric]} on average, the target is ${targetPercent} %`
