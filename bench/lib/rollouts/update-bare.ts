// The bare variant of an update, sent directly to the engine. A fixed number of successors at a time is created, started
// and checked with the agent's readiness rule; then each predecessor is stopped and removed while the next successor
// starts. Uses the agent's concurrency, adapter and container settings, for another tenant.

import { createLimit } from '@holdfast/agent/converge/limit'
import { createReadiness } from '@holdfast/agent/observe/readiness'
import { createReplicaStatusTable } from '@holdfast/agent/observe/replica-status-table'
import type { Engine } from '@holdfast/agent/ports/engine'
import {
  type AssignmentId,
  type DesiredItem,
  decode,
  desiredItemShape,
  isTenantId,
  type Observation,
} from '@holdfast/contract'
import { containerSettings, graceSeconds } from '@holdfast/core/node'
import pino from 'pino'
import { makeNetwork, WORKERS_PER_NODE } from './rollout-bare.ts'
import type { UpdateFigures } from './update-product.ts'
import type { StepBook } from './update-steps.ts'

interface BareContainer {
  readonly item: DesiredItem
  readonly containerId: string
}

interface BareUpdates {
  /** Replaces all containers by containers made from the desired item. */
  update(item: DesiredItem, parallelism: number): Promise<UpdateFigures>
  clear(): Promise<void>
}

export async function createBareUpdates(
  engine: Engine,
  tenantText: string,
  replicas: number,
  first: DesiredItem,
  book: StepBook,
): Promise<BareUpdates> {
  const tenant = isTenantId(tenantText) ? tenantText : undefined
  if (tenant === undefined) throw new Error('the tenant id is invalid')
  await makeNetwork(engine, tenant)
  const judge = createJudge(engine)
  const work = createLimit(WORKERS_PER_NODE)
  let count = 0

  const run = async (model: DesiredItem): Promise<BareContainer> => {
    count += 1
    const item = decode(desiredItemShape, { ...model, assignmentId: `rep_bare${count}` })
    const name = `bare-${count}`
    book.note(item.assignmentId, 'wanted')
    const containerId = await work(async () => {
      const id = await engine.createContainer(name, containerSettings(item, tenant))
      await engine.startContainer(id)
      return id
    })
    await judge.untilReady(item, containerId)
    book.note(item.assignmentId, 'ready')
    return { item, containerId }
  }
  const end = async ({ item, containerId }: BareContainer): Promise<void> => {
    book.note(item.assignmentId, 'unwanted')
    await work(async () => {
      await engine.stopContainer(containerId, graceSeconds(item))
      await engine.removeContainer(containerId)
    })
  }
  let all = await Promise.all(Array.from({ length: replicas }, () => run(first)))
  return {
    async update(item, parallelism) {
      const turn = createLimit(parallelism)
      const began = performance.now()
      const replace = async (old: BareContainer) => {
        const next = await turn(() => run(item))
        await end(old)
        return { old, next }
      }
      const replaced = await Promise.all(all.map(replace))
      const ms = (await book.untilRemoved(all.map(({ item }) => item.assignmentId))) - began
      all = replaced.map(({ next }) => next)
      const successions = replaced.map(({ old, next }) => ({
        old: old.item.assignmentId,
        next: next.item.assignmentId,
      }))
      return { ms, successions }
    },
    async clear() {
      await Promise.all(all.map(end))
      judge.close()
    },
  }
}

/** Judges readiness with the agent's status table and readiness rule, without running an agent. */
function createJudge(engine: Engine) {
  const waiting = new Map<AssignmentId, () => void>()
  const items = new Map<AssignmentId, DesiredItem>()
  const hear = (observations: readonly Observation[]): void => {
    for (const { assignmentId, state } of observations) if (state === 'ready') waiting.get(assignmentId)?.()
  }
  const statuses = createReplicaStatusTable(0)
  statuses.reportTo(hear)
  const readiness = createReadiness({
    engine,
    statuses,
    now: () => Date.now(),
    log: pino({ enabled: false }),
  })
  return {
    untilReady: (item: DesiredItem, id: string): Promise<void> =>
      new Promise((resolve) => {
        const { assignmentId } = item
        items.set(assignmentId, item)
        statuses.setItems(items)
        waiting.set(assignmentId, resolve)
        const startedAt = new Date().toISOString()
        const container = { id, state: 'running', startedAt, exitCode: null, restarts: 0 } as const
        const seen = { ...container, health: 'starting', address: null } as const
        statuses.update(assignmentId, { container: seen })
        readiness.follow(assignmentId, seen)
      }),
    close: readiness.close,
  }
}
