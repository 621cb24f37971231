// One step of a script: its effect on the simulated cluster, and its line in the story.

import { defined } from '@holdfast/contract'
import { request } from '../cluster/request.ts'
import type { Server, StoreLine } from '../cluster/server.ts'
import {
  record,
  type SimulatedNode,
  startNodeAgent,
  stopNodeAgent,
  turnOff,
  turnOn,
  type World,
} from '../cluster/world.ts'
import { stepWall } from '../time/virtual-time.ts'
import { failMachine, losePower } from './fail-machine.ts'
import type { Step } from './script.ts'

/** Executes a step. Calls `fail` with an error that would have ended a real process. */
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
    case 'agent-version':
    case 'labels':
      changeMachine(world, step)
      break
    case 'agent-killed':
    case 'fencer-killed':
    case 'power-cut':
    case 'network-cut':
    case 'node-frozen':
    case 'engine-stopped':
    case 'cannot-create':
    case 'servers-cut':
    case 'peer-cut':
    case 'clock-rate':
    case 'wall-step':
    case 'network-lost':
    case 'network-taken':
      failMachine(world, step, (name, message) => say(world, '', `node ${name}`, message))
      break
    case 'server-killed':
    case 'server-started':
    case 'server-paused':
    case 'store-cut':
    case 'store-flaky':
    case 'store-slow':
    case 'server-wall-step':
      changeServer(world, step, fail)
      break
    case 'store-compacted':
      compact(world)
      break
    case 'behave':
      behave(world, step)
      break
    case 'canary': {
      const { startMs, unhealthy, crashAfterMs, exitCode } = step
      const behaviour = defined({ startMs, unhealthy, crashAfterMs, exitCode })
      world.behaviours.set(`${world.tenants.get(step.tenant)}/canary/${step.deployment}`, behaviour)
      request(world, step, fail)
      break
    }
    case 'load': {
      const { tenant, deployment, cpuMillis } = step
      const key = `${world.tenants.get(tenant)}/${deployment}`
      world.loads.set(key, cpuMillis)
      world.loadsChangedAt.set(key, world.time.now)
      world.touched = true
      say(world, tenant, `deployment ${deployment}`, `its containers use ${cpuMillis} CPU millis together.`)
      break
    }
    case 'job': {
      const { tenant, job, runMs: crashAfterMs, exitCode = 0 } = step
      const behaviour = crashAfterMs === undefined ? {} : { crashAfterMs, exitCode }
      world.behaviours.set(`${world.tenants.get(tenant)}/job/${job}`, behaviour)
      request(world, step, fail)
      break
    }
    default:
      request(world, step, fail)
  }
}

function behave(world: World, step: Extract<Step, { do: 'behave' }>): void {
  const { at: _at, do: _do, tenant, deployment, ...behaviour } = step
  world.behaviours.set(`${world.tenants.get(tenant)}/${deployment}`, behaviour)
  const message = `its containers behave otherwise: ${JSON.stringify(behaviour)}`
  say(world, tenant, `deployment ${deployment}`, message)
}

function say(world: World, tenant: string, subject: string, message: string): void {
  record(world, { kind: 'step', severity: 'info', tenant, subject, message })
}

function compact(world: World): void {
  const { keyspace } = world
  say(world, '', 'store', `forgets its history before revision ${keyspace.revision}.`)
  if (keyspace.revision > keyspace.log.compacted) keyspace.compact(keyspace.revision)
}

type MachineStep = Extract<
  Step,
  {
    do: 'node-lost' | 'node-back' | 'node-cut' | 'node-healed' | 'agent-restart' | 'agent-version' | 'labels'
  }
>

function changeMachine(world: World, step: MachineStep): void {
  const node = world.nodes.get(step.node)
  if (node === undefined) throw new Error(`the script has no node ${step.node}`)
  const { machine, engine } = node
  const note = (message: string): void => say(world, '', `node ${machine.name}`, message)
  world.touched = true
  switch (step.do) {
    case 'node-lost':
      if (!machine.powered) return
      note('loses its power.')
      world.failures += 1
      losePower(node)
      break
    case 'node-back':
      if (machine.powered) return
      note('has its power back.')
      engine.powerOn()
      startNodeAgent(world, node)
      break
    case 'node-cut':
      note('loses its network; its containers run on.')
      if (machine.connected) world.failures += 1
      machine.connected = false
      node.link?.cut()
      break
    case 'node-healed':
      note('has its network back.')
      machine.connected = true
      break
    case 'labels':
      machine.labels = step.labels
      note(`is configured with the labels ${JSON.stringify(step.labels)}; its agent restarts.`)
      restartAgent(world, node)
      break
    case 'agent-version':
      machine.capabilities = step.capabilities
      note(`its agent is replaced by one with ${step.capabilities?.join(', ') ?? 'the first capabilities'}.`)
      restartAgent(world, node)
      break
    case 'agent-restart':
      note('its agent restarts.')
      if (machine.powered) world.failures += 1
      restartAgent(world, node)
      break
  }
}

function restartAgent(world: World, node: SimulatedNode): void {
  if (!node.machine.powered || node.machine.frozen) return
  stopNodeAgent(node)
  startNodeAgent(world, node)
}

type ServerStep = Extract<Step, { server: string }>

function changeServer(world: World, step: ServerStep, fail: (error: unknown) => void): void {
  const server = world.servers.get(step.server)
  const note = (message: string): void => say(world, '', `server ${step.server}`, message)
  if (step.do === 'server-started' && server === undefined) {
    note('is started.')
    turnOn(world, step.server).catch(fail)
  }
  if (step.do === 'server-started' || server === undefined) return
  world.failures += 1
  if (step.do === 'server-killed') {
    note('is killed.')
    turnOff(world, step.server)
    return
  }
  const { time } = world
  if (step.do === 'server-paused') {
    note(`is paused for ${step.forMs} ms.`)
    time.pause(server.process)
    afterwards(world, server, 'pauses', step.forMs, () => {
      note('resumes with its old view.')
      time.resume(server.process)
    })
    return
  }
  if (step.do === 'server-wall-step') {
    note(`its wall clock is wrong by ${step.byMs} ms for ${step.forMs} ms.`)
    stepWall(time, server.process.wall, step.byMs, step.forMs)
    return
  }
  changeLine(server.line, step, time.elapsedMs, note)
  afterwards(world, server, 'troubles', step.forMs, () => {
    Object.assign(server.line, { slowMs: 0, state: 'good' })
    note('reaches the store as before.')
  })
}

type LineStep = Extract<ServerStep, { do: 'store-cut' | 'store-flaky' | 'store-slow' }>

function changeLine(line: StoreLine, step: LineStep, now: number, note: (message: string) => void): void {
  const { forMs } = step
  if (step.do === 'store-slow') {
    note(`waits ${step.delayMs} ms longer for the store, for ${forMs} ms.`)
    line.slowMs = step.delayMs
    return
  }
  const cut = step.do === 'store-cut'
  note(`${cut ? 'does not reach' : 'loses answers of'} the store for ${forMs} ms.`)
  if (line.state !== step.do.slice(6)) line.since = now
  line.state = cut ? 'cut' : 'flaky'
}

/** Ends a fault after its duration, unless the server is gone or a later fault of the same kind lasts longer. */
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
