// Invariant: a canary advances through its phases and ends once. It becomes ready only after its observation, and is promoted by
// the next revision. End-state invariant: nothing is left of a canary that is over, and a canary that runs is as its phase says.

import { durationMs, ownerOf, type TenantId } from '@holdfast/contract'
import type { StoredCanary, StoredDeployment } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { activeCanary, isMarked } from '../placement/assigned.ts'
import { serves } from './beside.ts'

/** The phases that may follow each. A replica that is replaced begins the observation again. */
const NEXT: { readonly [phase in StoredCanary['phase']]: readonly StoredCanary['phase'][] } = {
  progressing: ['progressing', 'observing', 'aborted'],
  observing: ['observing', 'progressing', 'ready', 'aborted'],
  ready: ['ready', 'aborted'],
  aborted: ['aborted'],
}

export const canaryPhases: Invariant = {
  name: 'canary-phases',
  start: () =>
    function* (moment) {
      for (const { was, is } of moment.deployments.changed) {
        if (was?.uid === undefined || was.uid !== is?.uid) continue
        for (const message of wrongSteps(was, is)) yield { subject: is.spec.name, message }
      }
    },
}

function* wrongSteps(was: StoredDeployment, is: StoredDeployment): Generator<string> {
  const [before, after] = [was.canary, is.canary]
  if (before === undefined) {
    if (after !== undefined && after.phase !== 'progressing')
      yield `begins with a canary that is ${after.phase}`
    return
  }
  if (after?.startedAt !== before.startedAt) {
    if (after !== undefined && before.phase !== 'aborted')
      yield `has another canary after one that is ${before.phase}`
    if (is.revision !== was.revision + (after === undefined ? 1 : 0))
      yield `went from revision ${was.revision} to ${is.revision} with the end of its canary`
    return
  }
  if (!NEXT[before.phase].includes(after.phase))
    yield `has a canary that is ${after.phase} after ${before.phase}`
  if (before.phase === 'aborted' && JSON.stringify(before) !== JSON.stringify(after))
    yield 'has a canary that changed after its end'
  if (is.revision !== was.revision && after.phase !== 'aborted')
    yield `has a canary that outlived revision ${was.revision}`
  const watchedMs = Date.parse(after.since) - Date.parse(before.since)
  if (before.phase === 'observing' && after.phase === 'ready' && watchedMs < (durationMs(after.observe) ?? 0))
    yield `has a canary that is ready after ${watchedMs} ms of ${after.observe}`
}

/** Longer than the fault of a server, a takeover and a grace period. */
const LATE_MS = 60_000

export const canarySettled: Invariant = {
  name: 'canary-settled',
  atEnd: true,
  start: () =>
    function* (moment) {
      for (const { tenant, record } of moment.deployments.all)
        if (tenant !== undefined)
          for (const message of unsettled(moment, tenant, record))
            yield { subject: record.spec.name, message }
      yield* wrongEnds(moment)
    },
}

function* unsettled(moment: Moment, tenant: TenantId, stored: StoredDeployment): Generator<string> {
  const placement = moment.placements.is(tenant, ownerOf('deployment', stored.uid))
  const marked = (placement?.assignments ?? []).filter(isMarked)
  const canary = activeCanary(stored)
  if (canary === undefined) {
    if (marked.length > 0) yield `has ${marked.length} replicas of a canary that is over`
    return
  }
  const ready = new Set(marked.filter((each) => serves(moment, tenant, each)).map(({ replica }) => replica))
    .size
  const lateMs = moment.now - Date.parse(canary.since) - LATE_MS
  if (canary.phase === 'progressing' && ready === canary.replicas)
    yield `has a canary that is progressing, and its ${ready} replicas serve`
  if (canary.phase === 'observing' && lateMs > (durationMs(canary.observe) ?? 0))
    yield `has a canary that was observed for ${canary.observe} and is not ready`
  const deadlineMs = durationMs(stored.spec.update.progressDeadline) ?? 0
  if (canary.phase === 'progressing' && canary.reason !== 'dependency_unhealthy' && lateMs > deadlineMs)
    yield `has a canary that is progressing after its deadline, with ${ready} of ${canary.replicas} ready`
  for (const { id } of marked)
    if ((moment.observations.is(tenant, id)?.restarts ?? 0) > 0)
      yield `has a canary whose replica ${id} exited`
}

/** Each canary has one event of its start and one of its end; a deleted deployment ends its canary without one. */
function* wrongEnds({ deployments, events }: Moment): Generator<Broken> {
  for (const { tenant, record } of deployments.all) {
    const { uid, deleting } = record
    const of = events.all.filter((each) => each.tenant === tenant && each.record.subject.uid === uid)
    const count = (type: string) =>
      of.filter((each) => each.record.type === `deployment.canary_${type}`).length
    const [started, ended] = [count('started'), count('promoted') + count('aborted')]
    const left = activeCanary(record) === undefined ? 0 : 1
    if (!deleting && started !== ended + left)
      yield {
        subject: record.spec.name,
        message: `has ${started} canaries that started, ${ended} that ended and ${left} that run`,
      }
  }
}
