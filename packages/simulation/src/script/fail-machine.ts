// Timed faults of a simulated machine: a dead agent or fencer, a frozen machine, a stopped engine, one that
// cannot create containers, a cut to the servers or to another machine, a lost network of the engine. A clock that changes its rate keeps it.

import { engineNetworkName } from '@holdfast/core/node'
import { failCreations } from '../cluster/failed-creations.ts'
import { writeAfterThaw } from '../cluster/machine.ts'
import { type SimulatedNode, startNodeAgent, stopNodeAgent, type World } from '../cluster/world.ts'
import { loseNetwork, takeNetworkName } from '../networks/engine-networks.ts'
import { stepWall } from '../time/virtual-time.ts'
import { NODE_OF_JOB, PRIMARY_OF, type Step } from './script.ts'

type Failure = Extract<
  Step,
  {
    do:
      | 'agent-killed'
      | 'fencer-killed'
      | 'power-cut'
      | 'network-cut'
      | 'node-frozen'
      | 'engine-stopped'
      | 'cannot-create'
      | 'servers-cut'
      | 'peer-cut'
      | 'clock-rate'
      | 'wall-step'
      | 'network-lost'
      | 'network-taken'
  }
>

/** Lets a part of a machine fail. A machine without power has nothing left that could fail. */
export function failMachine(world: World, step: Failure, say: (node: string, message: string) => void): void {
  const node = findNode(world, step.node)
  if (node === undefined) return
  const { machine, engine } = node
  const note = (message: string) => say(machine.name, message)
  if (!machine.powered || machine.frozen) return
  world.touched = true
  world.failures += 1
  switch (step.do) {
    case 'agent-killed':
      note(`its agent dies for ${step.forMs} ms.`)
      killAgent(world, node, step.forMs)
      break
    case 'fencer-killed':
      note(`its fencer dies for ${step.forMs} ms.`)
      machine.fencer?.kill(step.forMs)
      break
    case 'power-cut':
      note(`loses its power for ${step.forMs} ms.`)
      cutPower(world, node, step.forMs)
      break
    case 'network-cut':
      note(`loses its network for ${step.forMs} ms; its containers run on.`)
      cutNetwork(world, node, step.forMs)
      break
    case 'node-frozen':
      note(`is frozen for ${step.forMs} ms.`)
      freeze(world, node, step.forMs)
      break
    case 'engine-stopped':
      note(`its engine stops for ${step.forMs} ms.`)
      engine.suspend(step.forMs)
      break
    case 'cannot-create':
      note(`can create no container for ${step.forMs} ms: ${step.cause}.`)
      endLater(world, step.forMs, failCreations(machine, step.cause))
      break
    case 'servers-cut':
      note(`reaches no server for ${step.forMs} ms.`)
      cutServers(world, node, step.forMs)
      break
    case 'peer-cut':
      note(
        `${step.oneWay ? 'does not reach' : 'and'} ${step.to} ${step.oneWay ? '' : 'are apart '}for ${step.forMs} ms.`,
      )
      cutPeer(world, node, step)
      break
    case 'clock-rate':
      note(`its clock runs at ${step.percent} %.`)
      machine.clock.setRate(step.percent / 100)
      break
    case 'wall-step':
      note(`its wall clock is wrong by ${step.byMs} ms for ${step.forMs} ms.`)
      stepWall(world.time, machine.wall, step.byMs, step.forMs)
      break
    case 'network-lost':
      note(`its engine loses the network ${step.network}.`)
      loseNetwork(machine, engineNetworkName(node.tenant, step.network))
      break
    case 'network-taken':
      note(`has another network with the name of ${step.network} for ${step.forMs} ms.`)
      endLater(world, step.forMs, takeNetworkName(machine, engineNetworkName(node.tenant, step.network)))
      break
  }
}

/** The node that a failure concerns; undefined if it names that of a volume or a job that has none. */
function findNode({ nodes, mirror }: World, name: string): SimulatedNode | undefined {
  if (!name.startsWith(PRIMARY_OF)) {
    const node = nodes.get(name)
    if (node === undefined) throw new Error(`the script has no node ${name}`)
    return node
  }
  const meant = name.startsWith(NODE_OF_JOB) ? nodeOfJob(mirror, name) : primaryOf(mirror, name)
  return [...nodes.values()].find(({ identity }) => identity.nodeId === meant)
}

const primaryOf = (mirror: World['mirror'], name: string) =>
  mirror.records().volumes.find(({ record }) => record.spec.name === name.slice(PRIMARY_OF.length))?.record
    .primary?.nodeId

const nodeOfJob = (mirror: World['mirror'], name: string) =>
  mirror.records().jobs.find(({ record }) => record.spec.name === name.slice(NODE_OF_JOB.length))?.record
    .nodeId

export function losePower(node: SimulatedNode): void {
  node.link?.cut()
  node.engine.powerOff()
  stopNodeAgent(node)
}

function cutPower(world: World, node: SimulatedNode, forMs: number): void {
  const { boot } = node.machine.clock
  losePower(node)
  world.time.plan(forMs, undefined, () => {
    if (node.machine.powered || node.machine.clock.boot !== boot) return
    node.engine.powerOn()
    startNodeAgent(world, node)
  })
}

function cutNetwork(world: World, node: SimulatedNode, forMs: number): void {
  const { machine } = node
  machine.connected = false
  node.link?.cut()
  machine.networkCutUntil = Math.max(machine.networkCutUntil, world.time.elapsedMs + forMs)
  world.time.plan(forMs, undefined, () => {
    if (world.time.elapsedMs < machine.networkCutUntil) return
    machine.connected = true
    world.touched = true
  })
}

function killAgent(world: World, node: SimulatedNode, forMs: number): void {
  stopNodeAgent(node)
  const { agent } = node
  world.time.plan(forMs, undefined, () => {
    // The power may have failed or returned since; the agent was started with it.
    if (node.machine.powered && node.agent === agent) startNodeAgent(world, node)
  })
}

/** Freezes every process of a machine. Its writers write as soon as they continue, before the fencer acts. */
function freeze(world: World, node: SimulatedNode, forMs: number): void {
  const { time } = world
  const { machine } = node
  const { boot } = machine.clock
  const processes = () => [machine.process, node.agent, ...(machine.fencer ? [machine.fencer.process] : [])]
  machine.frozen = true
  for (const process of processes()) time.pause(process)
  time.plan(forMs, undefined, () => {
    if (!machine.frozen || machine.clock.boot !== boot) return
    world.touched = true
    Object.assign(machine, { frozen: false, thawedAt: time.now })
    writeAfterThaw(machine)
    for (const process of processes()) time.resume(process)
    time.plan(THAWED_MS, undefined, () => {
      world.touched = true
    })
  })
}

/** The invariants are checked again when the machine no longer counts as frozen until just now. */
const THAWED_MS = 301

function endLater(world: World, forMs: number, end: () => void): void {
  world.time.plan(forMs, undefined, () => {
    end()
    world.touched = true
  })
}

function cutServers(world: World, node: SimulatedNode, forMs: number): void {
  const { machine } = node
  machine.serversCut = true
  node.link?.cut()
  const until = world.time.elapsedMs + forMs
  machine.serversCutUntil = Math.max(machine.serversCutUntil, until)
  world.time.plan(forMs, undefined, () => {
    if (world.time.elapsedMs < machine.serversCutUntil) return
    machine.serversCut = false
    world.touched = true
  })
}

function cutPeer(
  world: World,
  { machine }: SimulatedNode,
  { to, oneWay, forMs }: Extract<Failure, { do: 'peer-cut' }>,
): void {
  const other = findNode(world, to)?.machine
  if (other === undefined || other === machine) return
  const cuts = oneWay ? [[machine, other] as const] : [[machine, other] as const, [other, machine] as const]
  for (const [from, target] of cuts) {
    from.cutTo.set(target.name, Math.max(from.cutTo.get(target.name) ?? 0, world.time.elapsedMs + forMs))
    world.time.plan(forMs, undefined, () => {
      if ((from.cutTo.get(target.name) ?? 0) <= world.time.elapsedMs) from.cutTo.delete(target.name)
      world.touched = true
    })
  }
}
