// The story of a rollout, step by step: what was asked, which replica went where and how long it took, what failed and what
// to do. One event for each decision and kind, written with the decision (SAFETY 4g). DECISIONS 4 (update) and 7.

import type { Assignment, ContainerTemplate, Json, Rollout } from '@holdfast/contract'
import { containerTemplate, failureText, updateRulesOf } from '@holdfast/core'
import type { NewEvent } from '../../operations/record-write.ts'
import type { Decision } from './decision.ts'

type NodeName = (id: string) => string
type Told = Omit<NewEvent, 'subject' | 'cause'>

export function rolloutEvents(decision: Decision, nodeName: NodeName): Told[] {
  return [
    ...failed(decision, nodeName),
    ...begun(decision),
    ...displaced(decision, nodeName),
    ...quotaReached(decision),
    ...steps(decision, nodeName),
  ]
}

/** What a decision tells as a failure needs no word about the phase as well. */
export const isFailing = ({ before, next }: Decision): boolean =>
  next?.rollout?.failure !== undefined && before?.rollout?.failure?.at !== next.rollout.failure.at

const isBeginning = ({ before, next }: Decision): boolean =>
  next?.rollout?.replaces === true && before?.rollout?.startedAt !== next.rollout.startedAt

function begun(decision: Decision): Told[] {
  const { before, next, stored, unmet } = decision
  const { rollout } = next ?? {}
  if (rollout === undefined || !isBeginning(decision) || unmet.length > 0) return []
  const { order, parallelism } = updateRulesOf(stored.spec)
  const from = fromRevision(decision)
  const changed = changedParts(decision, rollout)
  const former = before?.rollout
  const superseded = former?.state === 'progressing' && former.templateHash !== rollout.templateHash
  const count = stored.spec.replicas
  const how = `${order}, ${parallelism === 1 ? 'one' : parallelism} at a time`
  return [
    {
      ...{ type: 'deployment.progressing', severity: 'info', reason: 'rollout_started' },
      message:
        `Revision ${from ?? '?'} -> ${rollout.revision} is rolled out to ${replicasText(count)}, ${how}. Changed: ${changed.join(', ')}.` +
        (superseded ? ` Revision ${former.revision}, which was under way, is given up.` : ''),
      data: { from: from ?? null, to: rollout.revision, changed, order, parallelism, replicas: count },
    },
  ]
}

const fromRevision = ({ before }: Decision): number | undefined =>
  before?.good?.revision ?? before?.ranRevision ?? before?.rollout?.revision

const PARTS = ['image', 'command', 'args', 'environment', 'healthCheck', 'limits', 'labels'] as const

/** In terms of what a container is made of; never a value of it. */
function changedParts({ before, stored: { spec, digest } }: Decision, { templateHash }: Rollout): string[] {
  const other = before?.assignments.find((each) => each.templateHash !== templateHash)?.templateHash
  const good = before?.good?.templateHash
  const was = before?.templates[(good === templateHash ? other : good) ?? other ?? '']
  const will = digest === null ? undefined : containerTemplate(spec, digest)
  if (was === undefined || will === undefined) return ['not known']
  const text = (template: ContainerTemplate, part: (typeof PARTS)[number]) =>
    JSON.stringify(template[part] ?? null)
  const parts = PARTS.filter((part) => text(was, part) !== text(will, part))
  return parts.length > 0 ? parts : ['secrets, volumes or a restart']
}

const replicasText = (count: number): string => (count === 1 ? '1 replica' : `${count} replicas`)

const wasRunning = ({ before }: Decision, id: string): boolean =>
  before?.assignments.some((each) => each.id === id && each.desired === 'running') === true

/** Those that this decision lets go, of numbers that are still wished. */
function goers(decision: Decision): Assignment[] {
  const { kept, stored } = decision
  const count = stored.deleting ? 0 : stored.spec.replicas
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

const NAMED = 5

function steps(decision: Decision, nodeName: NodeName): Told[] {
  const gone = goers(decision).filter(({ nodeId }) => !decision.lost.has(nodeId))
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
  const where = nodeName(old.nodeId)
  if (next === undefined && plan.forcedByQuota.includes(old.replica))
    return `Replica ${old.replica}: the quota of containers is reached, so the old one on ${where} is stopped first.`
  if (next === undefined && ready.has(old.id))
    return `Replica ${old.replica}: the old one on ${where} is stopped first.`
  // Assignments are kept in the order in which they were made.
  if (next === undefined || !ready.has(next.id) || kept.indexOf(next) < kept.indexOf(old))
    return `Replica ${old.replica} of revision ${old.revision} on ${where} is not wanted any more and is being removed.`
  const seconds = (Date.parse(now) - Date.parse(next.assignedAt)) / 1000
  return `Replica ${old.replica} is ready on ${nodeName(next.nodeId)} after ${seconds.toFixed(1)} s; the old one on ${where} is being removed.`
}

function progressText({ next, stored, ready }: Decision): string[] {
  const { rollout, good, assignments = [] } = next ?? {}
  if (rollout?.replaces !== true || rollout.state === 'paused') return []
  const aim = rollout.state === 'rolling_back' ? good : rollout
  const own = assignments.filter(
    ({ id, desired, templateHash }) =>
      desired === 'running' && templateHash === aim?.templateHash && ready.has(id),
  )
  const count = new Set(own.map(({ replica }) => replica)).size
  return [`${count} of ${replicasText(stored.spec.replicas)} of revision ${aim?.revision} are ready.`]
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

function failed(decision: Decision, nodeName: NodeName): Told[] {
  const { next, stored } = decision
  const { rollout, good } = next ?? {}
  if (rollout?.failure === undefined || !isFailing(decision)) return []
  const { reason, replica, nodeId, at } = rollout.failure
  const where = nodeId === undefined ? '' : ` on ${nodeName(nodeId)}`
  const took = ((Date.parse(at) - Date.parse(rollout.startedAt)) / 1000).toFixed(1)
  const why = `Revision ${rollout.revision} failed after ${took} s: replica ${replica}${where} ${failureText(reason)}.`
  const back = rollout.state === 'rolling_back'
  const { name, replicas } = stored.spec
  const what = back
    ? `The replicas go back to revision ${good?.revision}, which ran well; the stored spec stays. Correct it and store it again.`
    : `The update is paused with ${rollout.ready} of ${replicasText(replicas)} replaced; the failed one stays to be looked at. Read its logs, then store a corrected spec or roll ${name} back to an earlier revision.`
  return [
    {
      type: back ? 'deployment.rolled_back' : 'deployment.stalled',
      severity: 'error',
      reason: back ? 'rollback' : 'update_paused',
      message: `${why} ${what}`,
      data: {
        ...{ revision: rollout.revision, replica, failure: reason, ready: rollout.ready },
        ...(nodeId === undefined ? {} : { nodeId, nodeName: nodeName(nodeId) }),
        ...(back ? { to: good?.revision ?? null } : {}),
      },
    },
  ]
}
