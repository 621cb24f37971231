// Single scripts with networks: engines that lose them, other programs that use their names, and nodes that leave.

import { expect, test } from 'vitest'
import type { Snapshot } from '../cluster/snapshot.ts'
import { createInvariants } from '../invariants/index.ts'
import { CAPABILITIES } from '../seeds/random-job-steps.ts'
import { runScript } from './run-script.ts'
import type { Script, Step } from './script.ts'

const FRONT = { tenant: 't1', network: 'front' }
const WEB = { tenant: 't1', deployment: 'web' }
const capabilities = [...CAPABILITIES, 'networks']
const START: readonly Step[] = [
  ...['n1', 'n2'].map((node): Step => ({ at: 500, do: 'agent-version', node, capabilities })),
  { at: 2_000, do: 'network', ...FRONT, on: 'n2' },
  { at: 3_000, do: 'apply', ...WEB, spec: { replicas: 2, networks: ['front'] } },
]

const scriptOf = (steps: readonly Step[]): Script => ({
  cluster: { tenants: [{ name: 't1' }], nodes: ['n1', 'n2'].map((name) => ({ name, tenant: 't1' })) },
  steps: [...START, ...steps],
})

async function run(steps: readonly Step[]) {
  const script = scriptOf(steps)
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
  return { last, machine, events: result.events, story: result.story.map(({ message }) => message) }
}

test('containers with a network run on its node, and are attached again after the engine lost it', async () => {
  const { machine } = await run([{ at: 30_000, do: 'network-lost', node: 'n2', network: 'front' }])
  expect(machine?.networks.map(({ engineId }) => engineId)).toEqual(['n2-net-2'])
  expect(machine?.containers.map(({ networks }) => networks?.attached)).toEqual([
    [machine?.networks[0]?.name],
    [machine?.networks[0]?.name],
  ])
})

test('containers wait while another network has the name on the engine, and start once it is gone', async () => {
  const { machine, events } = await run([
    { at: 1_500, do: 'network-taken', node: 'n2', network: 'front', forMs: 20_000 },
  ])
  expect(events.get('network.failed')).toBe(1)
  expect(machine?.networks.map(({ engineId }) => engineId)).toEqual(['n2-net-2'])
  expect(machine?.containers.map(({ state }) => state)).toEqual(['ready', 'ready'])
})

test('a network is deleted only after its deployment no longer names it', async () => {
  const { last, machine, story } = await run([
    { at: 20_000, do: 'network-delete', ...FRONT },
    { at: 25_000, do: 'apply', ...WEB, spec: { networks: [] } },
    { at: 60_000, do: 'network-delete', ...FRONT },
  ])
  expect(story.filter((line) => line.startsWith('Refused: network_in_use'))).toHaveLength(1)
  expect([last?.networks, machine?.networks]).toEqual([[], []])
})
