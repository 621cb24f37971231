// Builds the cluster of a script as an operator would: servers, the platform, tenants with quotas, and machines that enroll
// and connect.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { Script, ScriptNode } from '../script/script.ts'
import { newPool } from '../volumes/pool.ts'
import { createFencer } from '../volumes/promises/fencer.ts'
import { newKeys } from './agent-session.ts'
import { callerIn, enroll, type Founded, found, makeTenant } from './ask.ts'
import { serversOf } from './given-world.ts'
import { newMachine } from './machine.ts'
import { createMachineClock, type MachineClock } from './machine-clock.ts'
import type { Server } from './server.ts'
import { addNode, liveServers, startNodeAgent, turnOn, type World } from './world.ts'

export async function setUp(world: World, script: Script): Promise<void> {
  const { time } = world
  for (const name of serversOf(script)) world.servers.set(name, undefined)
  for (const name of serversOf(script)) await turnOn(world, name)
  const [first] = liveServers(world)
  if (first === undefined) throw new Error('a cluster needs a server')
  // The requests that set up platform, tenants and nodes run inside the first server's process, without an API caller.
  await time.runAs(first.process, async () => {
    world.founded = await found(first)
    await makeTenants(world, first, world.founded, script)
    for (const node of script.cluster.nodes) await enrollNode(world, first, world.founded, node)
  })
  for (const node of world.nodes.values()) startNodeAgent(world, node)
}

async function makeTenants(
  world: World,
  server: Server,
  founded: Founded,
  { cluster }: Script,
): Promise<void> {
  for (const tenant of cluster.tenants)
    world.tenants.set(tenant.name, await makeTenant(server, founded, tenant))
}

async function enrollNode(
  world: World,
  server: Server,
  { token }: Founded,
  given: ScriptNode,
): Promise<void> {
  const { name, labels = {}, capacity, attested = attestedBy(labels) } = given
  const tenant = world.tenants.get(given.tenant)
  if (tenant === undefined)
    throw new Error(`node ${name} belongs to tenant ${given.tenant}, which does not exist`)
  const clock = createMachineClock(world.time)
  const pool = poolOf(world, given, clock)
  const machine = newMachine({ name, labels, capacity, pool, clock })
  if (pool !== undefined) machine.fencer = createFencer({ ...fencerDeps(world), machine })
  const keys = newKeys(world.random)
  const enrolled = await enroll(server, callerIn(tenant, token), { machine, keys, attested })
  addNode(world, tenant, machine, { ...keys, nodeId: enrolled.nodeId, generation: enrolled.generation })
}

/** The storage pool of a node; the machines have addresses of a private network. */
function poolOf({ nodes, writes, time }: World, { poolBytes }: ScriptNode, clock: MachineClock) {
  if (poolBytes === undefined) return undefined
  const now = () => ({ atMs: time.now, boot: clock.boot, clockMs: clock.now() })
  return newPool({ poolBytes, address: `10.0.0.${nodes.size + 1}:7844`, log: writes, now })
}

const fencerDeps = (world: World) => ({
  ...{ time: world.time, random: world.random },
  onTouched: () => {
    world.touched = true
  },
})

/** Location that a node's join token attests if the script names none: the location in the node's first labels. */
function attestedBy(labels: { readonly [key: string]: string }): NonNullable<ScriptNode['attested']> {
  const { [NODE_COUNTRY]: country, [NODE_REGION]: region } = labels
  return { ...(country === undefined ? {} : { country }), ...(region === undefined ? {} : { region }) }
}
