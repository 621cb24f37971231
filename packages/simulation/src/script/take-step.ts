// One step of a script: what it does to the world, and the line that the story has of it.

import { request } from '../cluster/request.ts'
import type { Server, StoreLine } from '../cluster/server.ts'
import {
  type SimulatedNode,
  startNodeAgent,
  stopNodeAgent,
  tell,
  turnOff,
  turnOn,
  type World,
} from '../cluster/world.ts'
import type { Step } from './script.ts'

/** `fail` is told of what would have ended a process of ours. */
export function takeStep(world: World, step: Step, fail: (error: unknown) => void): void {
  try {
    act(world, step, fail)
  } catch (error) {
    fail(error)
  }
}

function act(world: World, step: Step, fail: (error: unknown) => void): void {
  switch (step.do) {
    case 'node-lost':
    case 'node-back':
    case 'node-cut':
    case 'node-healed':
    case 'agent-restart':
    case 'labels':
      changeMachine(world, step)
      break
    case 'server-killed':
    case 'server-started':
    case 'server-paused':
    case 'store-cut':
    case 'store-flaky':
    case 'store-slow':
      changeServer(world, step, fail)
      break
    case 'store-compacted':
      compact(world)
      break
    case 'behave': {
      const { at: _at, do: _do, tenant, deployment, ...behaviour } = step
      world.behaviours.set(`${world.tenants.get(tenant)}/${deployment}`, behaviour)
      say(
        world,
        tenant,
        `deployment ${deployment}`,
        `its containers behave otherwise: ${JSON.stringify(behaviour)}`,
      )
      break
    }
    default:
      request(world, step, fail)
  }
}

function say(world: World, tenant: string, subject: string, message: string): void {
  tell(world, { kind: 'step', severity: 'info', tenant, subject, message })
}

function compact(world: World): void {
  const { keyspace } = world
  say(world, '', 'store', `forgets its history before revision ${keyspace.revision}.`)
  if (keyspace.revision > keyspace.log.compacted) keyspace.compact(keyspace.revision)
}

type MachineStep = Extract<Step, { node: string }>

function changeMachine(
  world: World,
  step: Exclude<
    MachineStep,
    { do: 'cordon' | 'uncordon' | 'drain' | 'node-role' | 'node-removed' | 're-enroll' }
  >,
): void {
  const node = world.nodes.get(step.node)
  if (node === undefined) throw new Error(`the script has no node ${step.node}`)
  const { machine, engine } = node
  const told = (message: string): void => say(world, '', `node ${machine.name}`, message)
  world.touched = true
  switch (step.do) {
    case 'node-lost':
      if (!machine.powered) return
      told('loses its power.')
      node.link?.cut()
      engine.powerOff()
      stopNodeAgent(node)
      break
    case 'node-back':
      if (machine.powered) return
      told('has its power back.')
      engine.powerOn()
      startNodeAgent(world, node)
      break
    case 'node-cut':
      told('loses its network; its containers run on.')
      machine.connected = false
      node.link?.cut()
      break
    case 'node-healed':
      told('has its network back.')
      machine.connected = true
      break
    case 'labels':
      machine.labels = step.labels
      told(`is configured with the labels ${JSON.stringify(step.labels)}; its agent restarts.`)
      restartAgent(world, node)
      break
    case 'agent-restart':
      told('its agent restarts.')
      restartAgent(world, node)
      break
  }
}

function restartAgent(world: World, node: SimulatedNode): void {
  if (!node.machine.powered) return
  stopNodeAgent(node)
  startNodeAgent(world, node)
}

type ServerStep = Extract<Step, { server: string }>

function changeServer(world: World, step: ServerStep, fail: (error: unknown) => void): void {
  const server = world.servers.get(step.server)
  const told = (message: string): void => say(world, '', `server ${step.server}`, message)
  if (step.do === 'server-started' && server === undefined) {
    told('is started.')
    turnOn(world, step.server).catch(fail)
  }
  if (step.do === 'server-started' || server === undefined) return
  if (step.do === 'server-killed') {
    told('is killed.')
    turnOff(world, step.server)
    return
  }
  const { time } = world
  if (step.do === 'server-paused') {
    told(`stands still for ${step.forMs} ms.`)
    time.pause(server.process)
    afterwards(world, server, 'pauses', step.forMs, () => {
      told('goes on where it stood.')
      time.resume(server.process)
    })
    return
  }
  changeLine(server.line, step, told)
  afterwards(world, server, 'troubles', step.forMs, () => {
    Object.assign(server.line, { slowMs: 0, state: 'good' })
    told('reaches the store as before.')
  })
}

type LineStep = Extract<ServerStep, { do: 'store-cut' | 'store-flaky' | 'store-slow' }>

function changeLine(line: StoreLine, step: LineStep, told: (message: string) => void): void {
  const { forMs } = step
  if (step.do === 'store-slow') {
    told(`waits ${step.delayMs} ms longer for the store, for ${forMs} ms.`)
    line.slowMs = step.delayMs
    return
  }
  const cut = step.do === 'store-cut'
  told(`${cut ? 'does not reach' : 'loses answers of'} the store for ${forMs} ms.`)
  line.state = cut ? 'cut' : 'flaky'
}

/** Unless it is over with the server, or another one of the kind began meanwhile and has longer to go. */
function afterwards(
  { time, servers }: World,
  server: Server,
  kind: 'pauses' | 'troubles',
  forMs: number,
  end: () => void,
): void {
  const until = Math.max(server.ends[kind], time.elapsedMs + forMs)
  server.ends[kind] = until
  time.plan(forMs, undefined, () => {
    if (servers.get(server.name) === server && time.elapsedMs >= server.ends[kind]) end()
  })
}
