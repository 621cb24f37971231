// Whom a deployment of a seed waits for: others of its tenant that were asked for before, so that few are refused,
// and only ones behind it in the order of names, so that no chain is a circle.

import type { Random } from '../time/random.ts'
import { chance } from './choose.ts'

/** By name, what a tenant has asked for so far: whether it was told how to check its health. */
export type Asked = Map<string, { readonly isChecked: boolean }>

/** Mostly nothing said, which leaves an earlier gate as it is; sometimes that there is none any more. */
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
