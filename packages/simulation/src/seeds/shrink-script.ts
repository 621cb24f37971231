// Shortens a script that breaks an invariant: removes steps, first half of the steps and then single ones, and after that
// machines and tenants. The remaining script breaks the same invariant.

import type { Script, Step } from '../script/script.ts'
import { runGiven } from './run-seed.ts'

/** Maximum number of simulation runs to shorten one script. */
const MOST_RUNS = 250

export async function shrinkScript(script: Script, seed: number, invariant: string): Promise<Script> {
  let runs = 0
  const isRed = async (candidate: Script): Promise<boolean> => {
    runs += 1
    const { violations } = await runGiven(candidate, seed)
    return violations.some((each) => each.invariant === invariant)
  }
  let best = script
  const tryEach = async (candidates: (from: Script) => Iterable<Script>): Promise<void> => {
    for (let found = true; found && runs < MOST_RUNS; ) {
      found = false
      for (const candidate of candidates(best)) {
        if (runs >= MOST_RUNS) return
        if (!(await isRed(candidate))) continue
        best = candidate
        found = true
        break
      }
    }
  }
  await tryEach(withoutSomeSteps)
  await tryEach(withoutNode)
  await tryEach(withoutTenant)
  await tryEach(withoutSomeSteps)
  return best
}

/** Variants of a script without some of its steps, the shortest variants first. */
function* withoutSomeSteps(script: Script): Generator<Script> {
  const { steps } = script
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < steps.length; from += size)
      yield { ...script, steps: [...steps.slice(0, from), ...steps.slice(from + size)] }
}

function* withoutNode(script: Script): Generator<Script> {
  const { cluster, steps } = script
  for (const { name } of cluster.nodes) {
    const nodes = cluster.nodes.filter((node) => node.name !== name)
    yield { ...script, cluster: { ...cluster, nodes }, steps: steps.filter((step) => nodeOf(step) !== name) }
  }
}

function* withoutTenant(script: Script): Generator<Script> {
  const { cluster, steps } = script
  for (const { name } of cluster.tenants) {
    const tenants = cluster.tenants.filter((tenant) => tenant.name !== name)
    if (tenants.length === 0) return
    const nodes = cluster.nodes.filter(({ tenant }) => tenant !== name)
    const left = new Set(nodes.map((node) => node.name))
    const kept = steps.filter(
      (step) => tenantOf(step) !== name && left.has(nodeOf(step) ?? nodes[0]?.name ?? ''),
    )
    yield { ...script, cluster: { ...cluster, tenants, nodes }, steps: kept }
  }
}

const nodeOf = (step: Step): string | undefined => ('node' in step ? step.node : undefined)
const tenantOf = (step: Step): string | undefined => ('tenant' in step ? step.tenant : undefined)
