// Dependencies of a random deployment: earlier deployments of its tenant, so that few are rejected. Every dependency
// sorts after the deployment by name, so that no cycle arises.

import type { Random } from '../time/random.ts'
import { chance } from './choose.ts'

/** Deployments that a tenant has requested so far, by name, with whether each has a health check. */
export type Asked = Map<string, { readonly isChecked: boolean }>

/** Mostly no `dependsOn`, which keeps existing dependencies; otherwise random ones, sometimes none, which removes all. */
export function randomDependencies(
  random: Random,
  names: readonly string[],
  own: string,
  asked: Asked,
): { readonly dependsOn?: { readonly [name: string]: 'healthy' | 'started' } } {
  const others = names.slice(names.indexOf(own) + 1).filter((name) => asked.has(name))
  if (others.length === 0 || !chance(random, 45)) return {}
  const chosen = others.filter(() => chance(random, 70))
  const gates = chosen.map((name) => {
    const isHealthy = asked.get(name)?.isChecked === true && chance(random, 70)
    return [name, isHealthy ? 'healthy' : 'started'] as const
  })
  return { dependsOn: Object.fromEntries(gates) }
}
