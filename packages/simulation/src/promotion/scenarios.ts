// The searches of CI and of the long run. Each covers one part of the protocol with everything else at its smallest, because
// the number of states multiplies with every bound.

import type { Scenario } from './world.ts'

const SMALLEST: Scenario = {
  name: 'smallest',
  nodes: ['a', 'b'],
  volumes: ['a'],
  messages: 1,
  maxCv: 3,
  maxEpoch: 2,
  maxCheckpoint: 1,
  agentCrashes: 0,
  machineCrashes: 0,
  slowTicks: 0,
  fastTicks: 0,
  handover: false,
  force: false,
}

export const scenario = (name: string, bounds: Partial<Scenario>): Scenario => ({
  ...SMALLEST,
  ...bounds,
  name,
})

const CRASHES = { agentCrashes: 1, machineCrashes: 1 }
const DRIFT = { slowTicks: 1, fastTicks: 1 }
const GROUP = { volumes: ['a', 'b'], maxCheckpoint: 2 }
const THREE_NODES = ['a', 'b', 'c']

export const SHORT_SCENARIOS: readonly Scenario[] = [
  scenario('drifting clocks', DRIFT),
  scenario('two messages, shrink and grow', { messages: 2, maxCv: 4 }),
  scenario('restarts', CRASHES),
  scenario('handover with cancel and a restart', { handover: true, agentCrashes: 1 }),
  scenario('handover and a further configuration', { handover: true, maxCv: 4 }),
  scenario('force', { force: true }),
  scenario('group of two volumes', GROUP),
  scenario('two copies', { nodes: THREE_NODES, maxCv: 2 }),
]

export const LONG_SCENARIOS: readonly Scenario[] = [
  ...SHORT_SCENARIOS,
  scenario('two messages and drifting clocks', { messages: 2, ...DRIFT }),
  scenario('restarts and drifting clocks', { ...CRASHES, ...DRIFT }),
  scenario('two messages and handover', { messages: 2, handover: true }),
  scenario('two messages and a restart', { messages: 2, agentCrashes: 1 }),
  scenario('handover, checkpoints and a restart', { handover: true, maxCheckpoint: 2, agentCrashes: 1 }),
  scenario('group of two volumes and drifting clocks', { ...GROUP, ...DRIFT }),
  scenario('two copies, shrink and grow', { nodes: THREE_NODES }),
]
