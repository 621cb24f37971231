// The story of a rollout, step by step: what was asked, which replica went where and how long it took, what failed and what
// to do. One event for each decision and kind, written with the decision (SAFETY 4g). DECISIONS 4 (update) and 7.

import type { Assignment, ContainerTemplate, Json, Rollout } from '@holdfast/contract'
import { containerTemplate, isStateful, updateRulesOf } from '@holdfast/core'
import type { Decision } from './decision.ts'
import { desiredCount } from './desired-deployment.ts'
import { displacedByLabels } from './displaced-events.ts'
import { failed } from './rollout-events-failed.ts'
import { type NodeName, replicasText, type Told } from './rollout-events-texts.ts'

export function rolloutEvents(decision: Decision, nodeName: NodeName): Told[] {
  return [
    ...failed(decision, nodeName),
    ...begun(decision),
    ...displaced(decision, nodeName),
    ...displacedByLabels(decision, nodeName),
    ...quotaReached(decision),
    ...steps(decision, nodeName),
  ]
}

const isBeginning = ({ before, next }: Decision): boolean =>
  next?.rollout?.replaces === true && before?.rollout?.startedAt !== next.rollout.startedAt

function begun(decision: Decision): Told[] {
  const { before, next, stored, unmet } = decision
  const { rollout } = next ?? {}
  if (rollout === undefined || !isBeginning(decision) || unmet.length > 0) return []
  const { parallelism } = updateRulesOf(stored.spec)
  const order = orderOf(decision)
  const from = fromRevision(decision)
  const changed = changedParts(decision, rollout)
  const former = before?.rollout
  const superseded = former?.state === 'progressing' && former.templateHash !== rollout.templateHash
  const given = superseded ? ` Revision ${former.revision}, which was under way, is given up.` : ''
  const count = stored.spec.replicas
  const what = `Revision ${rollout.revision} takes the place of revision ${from ?? '?'} on ${replicasText(count)}. Changed: ${changed.join(', ')}.`
  return [
    {
      ...{ type: 'deployment.progressing', severity: 'info', reason: 'rollout_started' },
      message: `${what}${given} ${paceText(decision)}`,
      data: { from: from ?? null, to: rollout.revision, changed, order, parallelism, replicas: count },
    },
  ]
}

/** As it is done, whatever the spec says: what is written to is never mounted twice. DECISIONS 4, update. */
const orderOf = ({ stored: { spec } }: Decision) =>
  isStateful(spec) ? 'stop-first' : updateRulesOf(spec).order

/** What is waited for, how long, and what comes of it. */
function paceText(decision: Decision): string {
  const { next, stored } = decision
  const { parallelism, failureAction, progressDeadlineMs } = updateRulesOf(stored.spec)
  const pace = parallelism === 1 ? 'One at a time' : `${parallelism} at a time`
  const order =
    orderOf(decision) === 'start-first'
      ? 'the old one goes once the new one is ready'
      : 'the old one goes first, then the new one starts'
  const end = failureAction === 'rollback' && next?.lastGood !== undefined ? 'rolled back' : 'paused'
  return `${pace}, ${order}; if one exits three times, becomes unhealthy or is not ready within ${progressDeadlineMs / 1000} s, the update is ${end}.`
}

const fromRevision = ({ before }: Decision): number | undefined =>
  before?.lastGood?.revision ?? before?.ranRevision ?? before?.rollout?.revision

const PARTS = [
  ...(['image', 'command', 'args', 'environment', 'secrets', 'composedEnvironment'] as const),
  ...(['healthCheck', 'limits', 'labels'] as const),
]

/** In terms of what a container is made of; never a value of it. */
function changedParts(
  { before, stored: { spec, digest, pins } }: Decision,
  { templateHash }: Rollout,
): string[] {
  const other = before?.assignments.find((each) => each.templateHash !== templateHash)?.templateHash
  const lastGood = before?.lastGood?.templateHash
  const was = before?.templates[(lastGood === templateHash ? other : lastGood) ?? other ?? '']
  const will = digest === null ? undefined : containerTemplate(spec, digest, pins)
  if (was === undefined || will === undefined) return ['not known']
  const text = (template: ContainerTemplate, part: (typeof PARTS)[number]) =>
    JSON.stringify(template[part] ?? null)
  const parts = PARTS.filter((part) => text(was, part) !== text(will, part))
  return parts.length > 0 ? parts : ['volumes or a restart']
}

const wasRunning = ({ before }: Decision, id: string): boolean =>
  before?.assignments.some((each) => each.id === id && each.desired === 'running') === true

/** Those that this decision lets go, of numbers that are still wished. */
function goers(decision: Decision): Assignment[] {
  const { kept, stored } = decision
  const count = desiredCount(stored)
  return kept.filter(
    ({ id, desired, replica }) => desired === 'removed' && replica <= count && wasRunning(decision, id),
  )
}

const successorOf = ({ kept, added }: Decision, { replica }: Assignment): Assignment | undefined =>
  [...kept, ...added].find((each) => each.replica === replica && each.desired === 'running')

function displaced(decision: Decision, nodeName: NodeName): Told[] {
  const lost = goers(decision).filter(({ nodeId }) => decision.lost.has(nodeId))
  const nodes = [...new Set(lost.map(({ nodeId }) => nodeId))]
  return nodes.map((nodeId) => {
    const own = lost.filter((each) => each.nodeId === nodeId)
    const moves = own.map((each) => {
      const to = successorOf(decision, each)
      return { replica: each.replica, to: to === undefined ? null : nodeName(to.nodeId) }
    })
    const where = moves.map(({ replica, to }) => `replica ${replica} is replaced on ${to}`).join(', ')
    return {
      ...{ type: 'deployment.displaced', severity: 'warning', reason: 'node_lost' },
      message: `Node ${nodeName(nodeId)} is lost: ${where}. What ran there may still run, until the node returns and is told to remove it.`,
      data: { nodeId, nodeName: nodeName(nodeId), replicas: moves },
    }
  })
}

function isToldAsDisplaced(decision: Decision, each: Assignment): boolean {
  if (decision.lost.has(each.nodeId)) return true
  return decision.displacement.refusals.has(each.nodeId) && successorOf(decision, each) === undefined
}

const NAMED = 5

function steps(decision: Decision, nodeName: NodeName): Told[] {
  const gone = goers(decision).filter((each) => !isToldAsDisplaced(decision, each))
  const texts = gone.map((each) => stepText(decision, each, nodeName))
  const ready = decision.next?.rollout?.ready ?? 0
  const grew = decision.next?.rollout?.replaces === true && ready > (decision.before?.rollout?.ready ?? 0)
  if (texts.length === 0 && !(grew && !isBeginning(decision))) return []
  const more = texts.length > NAMED ? [`${texts.length - NAMED} more likewise.`] : []
  const data: { [key: string]: Json } = {
    replicas: gone.map(({ replica, nodeId }) => ({ replica, leaves: nodeName(nodeId) })),
  }
  return [
    {
      ...{ type: 'deployment.progressing', severity: 'info', reason: 'rollout_step', data },
      message: [...texts.slice(0, NAMED), ...more, ...progressText(decision)].join(' '),
    },
  ]
}

function stepText(decision: Decision, old: Assignment, nodeName: NodeName): string {
  const { ready, kept, plan, now } = decision
  const next = successorOf(decision, old)
  const one = `the one of revision ${old.revision} on ${nodeName(old.nodeId)}`
  if (next === undefined && plan.forcedByQuota.includes(old.replica))
    return `Replica ${old.replica}: the quota of containers is reached, so ${one} is stopped first.`
  if (next === undefined && ready.has(old.id)) return `Replica ${old.replica}: ${one} is stopped first.`
  // Assignments are kept in the order in which they were made.
  if (next === undefined || !ready.has(next.id) || kept.indexOf(next) < kept.indexOf(old))
    return `Replica ${old.replica}: ${one} ${hasFailed(decision, old) ? 'has failed' : 'is not wanted any more'} and is removed.`
  const seconds = ((Date.parse(now) - Date.parse(next.assignedAt)) / 1000).toFixed(1)
  return `Replica ${old.replica} of revision ${next.revision} is ready on ${nodeName(next.nodeId)} after ${seconds} s; ${one} is removed.`
}

function hasFailed({ next }: Decision, { replica, nodeId, templateHash }: Assignment): boolean {
  const { rollout } = next ?? {}
  const { failure } = rollout ?? {}
  return rollout?.templateHash === templateHash && failure?.replica === replica && failure.nodeId === nodeId
}

function progressText({ next, stored, ready }: Decision): string[] {
  const { rollout, lastGood, assignments = [] } = next ?? {}
  if (rollout?.replaces !== true || rollout.state === 'paused') return []
  const back = rollout.state === 'rolling_back'
  const aim = back ? lastGood : rollout
  const running = assignments.filter(({ desired }) => desired === 'running')
  const own = running.filter(({ id, templateHash }) => templateHash === aim?.templateHash && ready.has(id))
  const count = new Set(own.map(({ replica }) => replica)).size
  const wished = stored.spec.replicas
  const isBack = back && count >= wished && running.length === own.length
  const end = isBack ? ': the rollback is complete' : ''
  return [`${count} of ${replicasText(wished)} of revision ${aim?.revision} are ready${end}.`]
}

/** Once for each rollout, and whenever a shortfall begins to be the quota's. */
function quotaReached({ before, next, plan, stored }: Decision): Told[] {
  const first = next?.rollout?.quotaReached === true && before?.rollout?.quotaReached !== true
  const isShort = next?.shortfall?.reason === 'quota_reached'
  const became = isShort && before?.shortfall?.reason !== 'quota_reached'
  const forced = plan.forcedByQuota.length > 0 && next?.rollout === undefined
  if (!first && !became && !forced) return []
  const what = became
    ? 'a replica that is wished cannot be made.'
    : 'no successor can be started beside an old replica, so the old one is stopped first.'
  return [
    {
      ...{ type: 'quota.reached', severity: 'warning', reason: 'quota_reached' },
      message: `The tenant's quota of containers is reached: of ${stored.spec.name} ${what} Raise the quota, or stop containers.`,
      data: { kind: 'containers', replicas: [...plan.forcedByQuota] },
    },
  ]
}
