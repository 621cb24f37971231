// Single scripts in which the engine of a machine hangs while its agent sends heartbeats.

import { expect, test } from 'vitest'
import type { Snapshot } from '../cluster/snapshot.ts'
import { createInvariants } from '../invariants/index.ts'
import { runScript } from './run-script.ts'
import type { Script, Step } from './script.ts'

const NODES = ['n1', 'n2', 'n3']
const START: readonly Step[] = [
  ...NODES.map((node): Step => ({ at: 500, do: 'agent-version', node, capabilities: ['engine_health'] })),
  { at: 3_000, do: 'apply', tenant: 't1', deployment: 'web', spec: { replicas: 3 } },
]

/** A request long after the others, so that the run does not end before the engine is back. */
const later = (at: number): Step => ({
  at,
  do: 'apply',
  tenant: 't1',
  deployment: 'web',
  spec: { replicas: 3 },
})

async function run(steps: readonly Step[]) {
  const script: Script = {
    cluster: { tenants: [{ name: 't1' }], nodes: NODES.map((name) => ({ name, tenant: 't1' })) },
    steps: [...START, ...steps],
  }
  const { check, checkEnd } = createInvariants(script)
  let last: Snapshot | undefined
  const result = await runScript(script, {
    seed: 1,
    check(snapshot) {
      last = snapshot
      return check(snapshot)
    },
  })
  expect([...result.violations, ...checkEnd()]).toEqual([])
  const machine = last?.machines.find(({ name }) => name === 'n2')
  return { machine, events: result.events }
}

test('an engine that hangs past the grace loses its replicas, and removes what was replaced when it is back', async () => {
  const hangs: Step = { at: 60_000, do: 'engine-stopped', node: 'n2', forMs: 200_000 }
  const { machine, events } = await run([hangs, later(330_000)])
  expect([events.get('node.degraded'), events.get('node.recovered')]).toEqual([2, 1])
  expect(events.get('deployment.displaced')).toBe(1)
  expect(events.get('node.unreachable') ?? 0).toBe(0)
  expect(machine?.containers).toEqual([])
})

test('an engine that hangs for a minute keeps its replicas and gets no new ones', async () => {
  const { machine, events } = await run([
    { at: 60_000, do: 'engine-stopped', node: 'n2', forMs: 60_000 },
    { at: 110_000, do: 'apply', tenant: 't1', deployment: 'web', spec: { replicas: 5 } },
  ])
  expect([events.get('node.degraded'), events.get('node.recovered')]).toEqual([1, 1])
  expect(events.get('deployment.displaced') ?? 0).toBe(0)
  expect(machine?.containers).toHaveLength(1)
})

test('an agent that restarts during the silence keeps its node degraded', async () => {
  const { events } = await run([
    { at: 60_000, do: 'engine-stopped', node: 'n2', forMs: 100_000 },
    { at: 110_000, do: 'agent-restart', node: 'n2' },
  ])
  expect([events.get('node.degraded'), events.get('node.recovered')]).toEqual([1, 1])
})

test('an engine that comes and goes changes the status of its node once', async () => {
  const stops = [0, 1, 2, 3, 4, 5].map(
    (turn): Step => ({ at: 60_000 + turn * 55_000, do: 'engine-stopped', node: 'n2', forMs: 45_000 }),
  )
  const { events } = await run(stops)
  expect([events.get('node.degraded'), events.get('node.recovered')]).toEqual([1, 1])
})
