// Every step that a state permits: a message arrives, is duplicated or lost, a timer fires, an operator acts, a clock
// ticks, a process or machine restarts.

import { beginHandover, prepareNode, readRecord } from '@holdfast/core/promotion/controller'
import { startCopy } from '@holdfast/core/promotion/copy'
import type { Message } from '@holdfast/core/promotion/messages'
import { leaseEndMs, mayStartWriters, renewPromises, startPrimary } from '@holdfast/core/promotion/primary'
import {
  abdicate,
  growBy,
  releaseSuccessor,
  requestCancel,
  shipCheckpoint,
  shrinkSilent,
  takeCheckpoint,
} from '@holdfast/core/promotion/primary-requests'
import { deliver, stored } from './deliver.ts'
import { encodeMessage } from './encode.ts'
import { fence, tick } from './tick.ts'
import {
  type InFlight,
  NO_TIME,
  NOT_FENCED,
  type NodeState,
  type Scenario,
  TICKS,
  type World,
  withNode,
} from './world.ts'

/** Receives a step: its name, its subject and the state after it. */
export type Visit = (action: string, subject: string | Message, world: World) => void

export function visitSuccessors(world: World, scenario: Scenario, visit: Visit): void {
  const send: Send = (action, subject, next, messages) => {
    const network = addMessages(next.network, messages)
    if (network.length <= scenario.messages)
      visit(action, subject, network === next.network ? next : { ...next, network })
  }
  visitDeliveries(world, scenario, send)
  world.nodes.forEach((node, at) => {
    visitPrimary(world, scenario, node, at, send)
    visitWriter(world, node, at, send)
    visitCrashes(world, node, at, send)
  })
  visitController(world, scenario, send)
  visitTicks(world, send)
}

type Send = (action: string, subject: string | Message, world: World, messages: readonly Message[]) => void

function addMessages(network: readonly InFlight[], messages: readonly Message[]): readonly InFlight[] {
  let next = network
  for (const message of messages) {
    const code = encodeMessage(message)
    if (next.some((each) => each.code === code)) continue
    next = [...next, { code, message }].sort((one, other) => one.code - other.code)
  }
  return next
}

function visitDeliveries(world: World, scenario: Scenario, send: Send): void {
  for (const { code, message } of world.network) {
    const without = { ...world, network: world.network.filter((each) => each.code !== code) }
    send('lose', message, without, [])
    const outcome = deliver(world, message, scenario)
    if (outcome === undefined) continue
    const { network } = without
    send('deliver', message, { ...outcome.world, network }, outcome.send)
    send('deliver and duplicate', message, outcome.world, outcome.send)
  }
}

function visitPrimary(world: World, scenario: Scenario, node: NodeState, at: number, send: Send): void {
  const { primary, name, writer } = node
  if (primary === undefined) return
  const messages = [...renewPromises(primary, 0), ...shrinkSilent(primary, 0, TICKS)]
  for (const message of messages) send('send', message, world, [message])
  for (const copy of primary.copies) {
    const grown = growBy(primary, copy, 0, TICKS)
    if (grown.send.length > 0) send('grow', copy, withNode(world, at, { primary: grown.state }), grown.send)
    if (primary.stored.get(copy) === primary.durable.checkpoint) continue
    for (const part of shipCheckpoint(primary, copy, scenario.volumes, NO_TIME))
      send('send', part, world, [part])
  }
  const { handover, checkpoint } = primary.durable
  if (writer === 'running' && checkpoint < scenario.maxCheckpoint)
    send('checkpoint', name, withNode(world, at, { primary: takeCheckpoint(primary) }), [])
  if (handover === undefined) return
  if (writer === 'running') send('stop writer', name, withNode(world, at, { writer: 'none' }), [])
  else if (!handover.abdicated)
    send('abdicate', name, withNode(world, at, { primary: abdicate(primary) }), [])
  for (const message of releaseSuccessor(primary)) send('send', message, world, [message])
  const canceled = requestCancel(primary)
  send('cancel', name, withNode(world, at, { primary: canceled.state }), canceled.send)
}

/** The engine runs a queued start at any time; the fencer then acts within its budget. */
function visitWriter(world: World, node: NodeState, at: number, send: Send): void {
  const { primary, name, writer } = node
  if (primary === undefined) return
  const mayStart = mayStartWriters(primary, 0, TICKS) && primary.durable.handover === undefined
  if (writer === 'none' && mayStart) send('start writer', name, withNode(world, at, { writer: 'queued' }), [])
  if (writer === 'queued')
    send('writer appears', name, withNode(world, at, fence({ ...node, writer: 'running' })), [])
  const end = leaseEndMs(primary, TICKS)
  if (writer === 'running' && end > 0 && end <= TICKS.fenceMs)
    send('fence', name, withNode(world, at, fence(node)), [])
}

function visitCrashes(world: World, node: NodeState, at: number, send: Send): void {
  const { budgets } = world
  if (budgets.agentCrashes > 0) {
    const spent = { ...world, budgets: { ...budgets, agentCrashes: budgets.agentCrashes - 1 } }
    send('restart agent', node.name, withNode(spent, at, restart(node, node.boot)), [])
  }
  if (budgets.machineCrashes > 0) {
    const spent = { ...world, budgets: { ...budgets, machineCrashes: budgets.machineCrashes - 1 } }
    const booted = { ...restart(node, node.boot + 1), writer: 'none' as const, fencer: NOT_FENCED }
    send('restart machine', node.name, withNode(spent, at, booted), [])
  }
}

/** Only the durable state is left, and of one boot the lease file. */
function restart({ name, primary, copy, boot: before, start }: NodeState, boot: number): Partial<NodeState> {
  if (copy !== undefined) {
    const { volumes, durable } = copy
    return {
      boot,
      start: start + 1,
      copy: startCopy({ node: name, volumes, durable, start: start + 1 }, 0, TICKS),
    }
  }
  if (primary === undefined) return {}
  const { copies, durable, lease } = primary
  const file = { boot: before, lease }
  return { boot, start: start + 1, primary: startPrimary({ node: name, copies, durable, boot, file }) }
}

function visitController(world: World, scenario: Scenario, send: Send): void {
  const { record, nodes } = world
  for (const { name, primary, copy } of nodes) {
    const known = primary?.durable ?? copy?.durable
    if (known !== undefined && known.cv < record.cv) send('read', name, world, readRecord(record, name).send)
    const forces = scenario.force ? [undefined, { primaryIsDead: false }] : [undefined]
    for (const force of forces) {
      const prepare = prepareNode(record, name, force)
      if (prepare !== undefined && name !== record.primary) send('send', prepare, world, [prepare])
    }
    if (!scenario.handover) continue
    const begun = beginHandover(record, name)
    const outcome = begun.record === record ? undefined : stored(world, begun, scenario)
    if (outcome !== undefined) send('hand over', name, outcome.world, outcome.send)
  }
}

function visitTicks(world: World, send: Send): void {
  const { nodes, budgets } = world
  const even = nodes.map(() => 1)
  send('tick', 'all', tick(world, even), [])
  const { slowTicks, fastTicks } = budgets
  nodes.forEach((slow, slowAt) => {
    if (slowTicks > 0) {
      const spent = { ...world, budgets: { ...budgets, slowTicks: slowTicks - 1 } }
      send('slow tick', slow.name, tick(spent, even.with(slowAt, 0)), [])
    }
    if (fastTicks > 0) {
      const spent = { ...world, budgets: { ...budgets, fastTicks: fastTicks - 1 } }
      send('fast tick', slow.name, tick(spent, even.with(slowAt, 2)), [])
    }
  })
}
