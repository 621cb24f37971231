// Choices of a seed, in the few forms that scripts need.

import type { Random } from '../time/random.ts'

/** True with a probability in percent. */
export const chance = (random: Random, percent: number): boolean => random.below(100) < percent

/** A whole number, both ends included. */
export const between = (random: Random, least: number, most: number): number =>
  least + random.below(most - least + 1)

export function oneOf<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[random.below(choices.length)]
  if (chosen === undefined) throw new RangeError('nothing to choose from')
  return chosen
}

/** Each item with its weight. */
export function weighted<T>(random: Random, choices: readonly (readonly [number, T])[]): T {
  const total = choices.reduce((sum, [weight]) => sum + weight, 0)
  let drawn = random.below(total)
  for (const [weight, choice] of choices) {
    if (drawn < weight) return choice
    drawn -= weight
  }
  throw new RangeError('nothing to choose from')
}
