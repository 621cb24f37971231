// The guarantees, stated again without the reducers' code (docs/design/promotion.md#guarantees).

import type { CopyState } from '@holdfast/core/promotion/copy'
import { type NodeState, TICKS, type World } from './world.ts'

/** Returns the sentence of the guarantee that a state breaks; undefined if it keeps all of them. */
export function findBroken(world: World): string | undefined {
  const { nodes, record } = world
  let writers = 0
  for (const { writer } of nodes) if (writer === 'running') writers += 1
  if (writers > 1) return 'two writers at the same time'
  for (const node of nodes) {
    if (!record.promotable.includes(node.name)) continue
    const broken = node.copy === undefined ? 'a primary is promotable' : checkCopy(world, node.copy)
    if (broken !== undefined) return broken
  }
  return undefined
}

function checkCopy(world: World, copy: CopyState): string | undefined {
  const { record, acknowledged, nodes } = world
  for (const held of copy.durable.held) {
    if (held === undefined || held.number < acknowledged) return 'an acknowledged checkpoint is lost'
    if (held.epoch !== record.epoch) return 'bytes of another epoch are in the lineage'
  }
  const primary = nodes.find(({ name }) => name === record.primary)
  return primary === undefined ? undefined : checkLoss(primary, copy)
}

/** While the writer runs, the last moment of a write that this copy would state may not be over. */
function checkLoss({ writer, primary }: NodeState, copy: CopyState): string | undefined {
  if (writer !== 'running' || primary === undefined || copy.lastAcked === undefined || !copy.bounded)
    return undefined
  const { boot, ms } = copy.lastAcked
  return boot === primary.boot && ms + TICKS.leaseMs >= 0 ? undefined : 'the stated loss is too small'
}

/** Returns the guarantee that a step breaks: a node becomes primary without bytes that every copy had acknowledged. */
export function findBrokenStep(before: World, after: World): string | undefined {
  for (const [at, node] of after.nodes.entries()) {
    const old = before.nodes[at]?.copy
    if (node.primary === undefined || old === undefined) continue
    const from = node.primary.durable.checkpoint
    for (const held of old.durable.held) {
      if (held === undefined || held.number < from) return 'a group is promoted by halves'
      if (held.epoch !== node.primary.durable.epoch - 1) return 'bytes of another epoch are in the lineage'
    }
    if (from < before.acknowledged) return 'an acknowledged checkpoint is lost'
  }
  return undefined
}

/** Notes the newest checkpoint that every promotable node has acknowledged to the primary. */
export function noteAcknowledged(world: World): World {
  const { record, nodes, acknowledged } = world
  const primary = nodes.find(({ name }) => name === record.primary)?.primary
  if (primary === undefined || primary.durable.epoch !== record.epoch || record.promotable.length === 0)
    return world
  let least = Number.POSITIVE_INFINITY
  for (const name of record.promotable) least = Math.min(least, primary.stored.get(name) ?? 0)
  return least > acknowledged ? { ...world, acknowledged: least } : world
}
