// Adds jobs to the random steps of a script: they succeed, fail, hang until their timeout, and are cancelled, while all the
// faults of the other steps happen. Some scripts have a long job whose node loses its network until it is declared failed.

import { NODE_OF_JOB, type ScriptCluster, type Step, type StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'

/** The capabilities of agents that can run jobs. The other steps downgrade some agents in between. */
export const CAPABILITIES = ['command', 'args', 'health_check', 'limits', 'jobs']
const LEAST_JOBS = 2
const MOST_JOBS = 8
const UPGRADED_AT_MS = 1_000
/** Time after the last other step, at which every agent can run jobs again. */
const AGAIN_MS = 6_000
const LONGEST_CANCEL_MS = 20_000
/** Percent of the scripts in which the node of a long job fails. */
const LOST_PERCENT = 75
/** A node is declared failed after 120 s, and later if servers had faults. */
const CUTS_MS = { brief: [50_000, 110_000], long: [130_000, 240_000] } as const

export function withJobSteps(random: Random, cluster: ScriptCluster, others: readonly Step[]): Step[] {
  const end = others.at(-1)?.at ?? UPGRADED_AT_MS
  const upgradedAt = (at: number): Step[] =>
    cluster.nodes.map(({ name: node }) => ({ at, do: 'agent-version', node, capabilities: CAPABILITIES }))
  const jobs = Array.from({ length: between(random, LEAST_JOBS, MOST_JOBS) }, (_, index) =>
    jobSteps(random, cluster, `j${index + 1}`, between(random, 2_000, end)),
  )
  const lost = chance(random, LOST_PERCENT) ? lostJob(random, cluster, between(random, 2_000, 20_000)) : []
  const healedAt = Math.max(end, ...lost.map((step) => step.at + ('forMs' in step ? step.forMs : 0)))
  const steps = [
    ...upgradedAt(UPGRADED_AT_MS),
    ...others,
    ...jobs.flat(),
    ...lost,
    ...upgradedAt(healedAt + AGAIN_MS),
  ]
  return steps.sort((one, other) => one.at - other.at)
}

/** A job that outlasts a cut of its node, in the tenant with the most nodes. Its container runs on there. */
function lostJob(random: Random, cluster: ScriptCluster, at: number): Step[] {
  const nodesOf = (name: string) => cluster.nodes.filter(({ tenant }) => tenant === name).length
  const [{ name: tenant } = oneOf(random, cluster.tenants)] = cluster.tenants.toSorted(
    (one, other) => nodesOf(other.name) - nodesOf(one.name),
  )
  const [least, most] = chance(random, 20) ? CUTS_MS.brief : CUTS_MS.long
  const forMs = between(random, least, most)
  const spec = {
    retries: between(random, 1, 2),
    stopGracePeriod: '1s',
    ...(chance(random, 50) ? { onNodeLoss: 'retry' } : {}),
  }
  const job = 'long'
  return [
    { at, do: 'job', tenant, job, runMs: forMs + between(random, 1_000, 40_000), spec },
    { at: at + between(random, 3_000, 15_000), do: 'network-cut', node: `${NODE_OF_JOB}${job}`, forMs },
  ]
}

function jobSteps(random: Random, cluster: ScriptCluster, job: string, at: number): Step[] {
  const { name: tenant } = oneOf(random, cluster.tenants)
  const spec = {
    retries: between(random, 0, 2),
    stopGracePeriod: '1s',
    ...(chance(random, 20) ? { onNodeLoss: 'retry' } : {}),
    ...(chance(random, 40) ? { resources: { cpuMillis: between(random, 1, 4) * 250, memoryBytes: 0 } } : {}),
  }
  const runMs = between(random, 200, 25_000)
  const action = weighted<StepAction>(random, [
    [45, { do: 'job', tenant, job, runMs, spec }],
    [30, { do: 'job', tenant, job, runMs, exitCode: between(random, 1, 3), spec }],
    [25, { do: 'job', tenant, job, spec: { ...spec, timeout: `${between(random, 1, 20)}s` } }],
  ])
  const cancelled: Step = { at: at + between(random, 0, LONGEST_CANCEL_MS), do: 'job-cancelled', tenant, job }
  return [{ at, ...action }, ...(chance(random, 25) ? [cancelled] : [])]
}
