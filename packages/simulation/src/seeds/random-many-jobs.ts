// Generates scripts with many jobs, while agents, engines, machines, networks and servers fail. Every job ends on its own, by
// its timeout or by a cancellation, and every failure ends, so that all jobs must have ended when the cluster has settled.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { CAPABILITIES } from './random-job-steps.ts'

const SERVERS = ['a', 'b'] as const
const TENANTS = ['t1', 't2'] as const
const JOBS = 160
const UPGRADED_AT_MS = 500
const FIRST_MS = 3_000
const LAST_MS = 400_000
/** All agents restart then, after the time for which an agent keeps the log of an attempt that no server has named. */
const RESTARTED_MS = LAST_MS + 350_000
/** Fewer failures would leave jobs undisturbed, more would leave no time for them. */
const FAILURES = 45

/** Nodes with room for every job that a tenant may run at once. */
export const manyJobsCluster = (): ScriptCluster => ({
  servers: SERVERS,
  tenants: TENANTS.map((name) => ({ name })),
  nodes: TENANTS.flatMap((tenant) =>
    [1, 2, 3].map((number) => ({ name: `${tenant}n${number}`, tenant, labels: {} })),
  ),
})

export function manyJobsSteps(random: Random, cluster: ScriptCluster): Step[] {
  const nodes = cluster.nodes.map(({ name }) => name)
  const steps: Step[] = nodes.map((node) => ({
    ...{ at: UPGRADED_AT_MS, do: 'agent-version', node },
    capabilities: CAPABILITIES,
  }))
  for (let index = 1; index <= JOBS; index += 1) steps.push(...jobSteps(random, `j${index}`))
  for (let left = FAILURES; left > 0; left -= 1) steps.push(...failure(random, nodes))
  for (const node of nodes) steps.push({ at: RESTARTED_MS, do: 'agent-restart', node })
  return steps.sort((one, other) => one.at - other.at)
}

function jobSteps(random: Random, job: string): Step[] {
  const at = between(random, FIRST_MS, LAST_MS)
  const of = { do: 'job', tenant: oneOf(random, TENANTS), job } as const
  const spec = {
    retries: between(random, 0, 3),
    stopGracePeriod: '1s',
    timeout: `${between(random, 20, 90)}s`,
    ...(chance(random, 30) ? { onNodeLoss: 'retry' } : {}),
  }
  const runMs = between(random, 100, 30_000)
  const created = weighted<StepAction>(random, [
    [50, { ...of, runMs, spec }],
    [30, { ...of, runMs, exitCode: between(random, 1, 3), spec }],
    [20, { ...of, spec: { ...spec, retries: 0, timeout: `${between(random, 2, 20)}s` } }],
  ])
  if (!chance(random, 12)) return [{ at, ...created }]
  const cancelled: Step = {
    ...{ at: at + between(random, 0, 15_000), do: 'job-cancelled' },
    ...{ tenant: of.tenant, job },
  }
  return [{ at, ...created }, cancelled]
}

function failure(random: Random, nodes: readonly string[]): Step[] {
  const at = between(random, FIRST_MS, LAST_MS)
  const node = oneOf(random, nodes)
  const server = oneOf(random, SERVERS)
  const forMs = between(random, 500, 30_000)
  return weighted<Step[]>(random, [
    [20, [{ at, do: 'agent-killed', node, forMs }]],
    [20, [{ at, do: 'engine-stopped', node, forMs }]],
    [12, [{ at, do: 'power-cut', node, forMs }]],
    [14, [{ at, do: 'network-cut', node, forMs }]],
    [6, [{ at, do: 'network-cut', node, forMs: between(random, 100_000, 160_000) }]],
    [10, killed(random, server, at)],
    [8, [{ at, do: 'server-paused', server, forMs }]],
    [5, [{ at, do: 'store-cut', server, forMs }]],
    [5, [{ at, do: 'store-flaky', server, forMs }]],
  ])
}

const killed = (random: Random, server: string, at: number): Step[] => [
  { at, do: 'server-killed', server },
  { at: at + between(random, 1_000, 25_000), do: 'server-started', server },
]
