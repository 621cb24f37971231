// Generates a random deployment spec with a few fields, whose values are within their limits.

import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { COUNTRIES, REGION_NAMES, ZONES } from './random-cluster.ts'

type Fields = { [field: string]: unknown }

/** Generates a spec. `mark` differs in each call, so that every update changes the deployment. */
export function randomSpec(random: Random, names: readonly string[], own: string, mark: number): Fields {
  return {
    replicas: weighted(random, [
      [5, 0],
      [30, 1],
      [35, 2],
      [20, 3],
      [10, 4],
    ]),
    ...(chance(random, 50) ? { environment: { MARK: String(mark) } } : {}),
    ...(chance(random, 40) ? { resources: randomResources(random) } : {}),
    ...(chance(random, 55) ? { placement: randomPlacement(random, names, own) } : {}),
    ...(chance(random, 25) ? { update: randomUpdate(random) } : {}),
    ...(chance(random, 30)
      ? { healthCheck: { type: 'exec', command: ['true'], interval: '5s', timeout: '10s' } }
      : {}),
  }
}

const randomResources = (random: Random): Fields => ({
  cpuMillis: between(random, 0, 3) * 500,
  memoryBytes: between(random, 0, 3) * 2 ** 28,
})

const randomUpdate = (random: Random): Fields => ({
  order: chance(random, 60) ? 'start-first' : 'stop-first',
  parallelism: between(random, 1, 3),
  failureAction: chance(random, 50) ? 'rollback' : 'pause',
})

function randomPlacement(random: Random, names: readonly string[], own: string): Fields {
  const others = names.filter((name) => name !== own)
  return {
    ...(chance(random, 50) ? { residency: randomResidency(random) } : {}),
    ...(chance(random, 25) ? { constraints: [randomConstraint(random)] } : {}),
    ...(chance(random, 30) ? { antiAffinity: [chance(random, 70) ? own : oneOf(random, names)] } : {}),
    ...(chance(random, 10) && others.length > 0 ? { affinity: [oneOf(random, others)] } : {}),
  }
}

export function randomResidency(random: Random): Fields {
  const kind = random.below(3)
  if (kind === 0) return { country: oneOf(random, COUNTRIES) }
  if (kind === 1) return { region: oneOf(random, REGION_NAMES) }
  return { blockedCountries: [oneOf(random, COUNTRIES)] }
}

function randomConstraint(random: Random): Fields {
  const operator = oneOf(random, ['in', 'notIn', 'exists', 'notExists'])
  const values = operator === 'in' || operator === 'notIn' ? { values: [oneOf(random, ZONES)] } : {}
  return { label: chance(random, 80) ? 'zone' : 'gpu', operator, ...values }
}
