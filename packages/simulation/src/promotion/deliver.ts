// A message arrives at its node or at the controller, and the reducer of its kind runs.

import { becomeCopy, takeOver } from '@holdfast/core/promotion/change-roles'
import { cancelHandover, growGroup, promoteGroup, shrinkGroup } from '@holdfast/core/promotion/controller'
import {
  type CopyState,
  onCopyConfigured,
  onPrepare,
  onRelease,
  onRenew,
  onShip,
} from '@holdfast/core/promotion/copy'
import type { GroupRecord } from '@holdfast/core/promotion/group-record'
import type { Message, Step } from '@holdfast/core/promotion/messages'
import { onAck, onPrimaryConfigured, onStored, type PrimaryState } from '@holdfast/core/promotion/primary'
import { NOT_FENCED, type NodeState, type Scenario, TICKS, type World, withNode } from './world.ts'

export interface Outcome {
  readonly world: World
  readonly send: readonly Message[]
}

export function deliver(world: World, message: Message, scenario: Scenario): Outcome | undefined {
  switch (message.kind) {
    case 'shrink':
      return stored(world, shrinkGroup(world.record, message), scenario)
    case 'grow':
      return stored(world, growGroup(world.record, message), scenario)
    case 'cancel':
      return stored(world, cancelHandover(world.record, message), scenario)
    case 'vote': {
      const promotion = promoteGroup(world.record, message)
      return promotion && stored(world, { record: promotion.record, send: [] }, scenario)
    }
    default:
      return deliverToNode(world, message, scenario)
  }
}

interface Change {
  readonly record: GroupRecord
  readonly send: readonly Message[]
}

/** Commits a transaction within the bounds of the search. */
export function stored(world: World, { record, send }: Change, scenario: Scenario): Outcome | undefined {
  if (record.cv > scenario.maxCv || record.epoch > scenario.maxEpoch) return undefined
  return { world: record === world.record ? world : { ...world, record }, send }
}

type ToNode = Exclude<Message, { kind: 'shrink' | 'grow' | 'cancel' | 'vote' }>

function deliverToNode(world: World, message: ToNode, scenario: Scenario): Outcome | undefined {
  const at = world.nodes.findIndex(({ name }) => name === message.to)
  const node = world.nodes[at]
  if (node === undefined) return undefined
  if (message.kind === 'configured')
    return { world: withNode(world, at, configure(node, message.record, scenario)), send: [] }
  const step = node.copy ? toCopy(node.copy, message) : node.primary && toPrimary(node.primary, message)
  if (step === undefined) return undefined
  const changes = 'copies' in step.state ? { primary: step.state } : { copy: step.state }
  return { world: withNode(world, at, changes), send: step.send }
}

function toCopy(copy: CopyState, message: ToNode): Step<CopyState> | undefined {
  switch (message.kind) {
    case 'renew':
      return onRenew(copy, message, 0, TICKS)
    case 'prepare':
      return onPrepare(copy, message, 0, TICKS)
    case 'release':
      return onRelease(copy, message, 0, TICKS)
    case 'ship':
      return onShip(copy, message, 0, TICKS)
    default:
      return undefined
  }
}

function toPrimary(primary: PrimaryState, message: ToNode): Step<PrimaryState> | undefined {
  if (message.kind === 'ack') return onAck(primary, message, 0)
  return message.kind === 'stored' ? onStored(primary, message) : undefined
}

/** A node reads the record: it may change its role, or use the configuration in the role that it has. */
function configure(node: NodeState, record: GroupRecord, { nodes, volumes }: Scenario): Partial<NodeState> {
  const { name, boot, start, primary, copy } = node
  if (primary !== undefined) {
    if (record.epoch <= primary.durable.epoch) return { primary: onPrimaryConfigured(primary, record) }
    const next = becomeCopy(primary, record, { volumes, start }, 0, TICKS)
    return { primary: undefined, copy: next, writer: 'none', fencer: NOT_FENCED }
  }
  if (copy === undefined) return {}
  const copies = nodes.filter((each) => each !== name)
  const taken = takeOver(copy, record, { boot, copies })
  return taken ? { primary: taken.primary, copy: undefined } : { copy: onCopyConfigured(copy, record) }
}
