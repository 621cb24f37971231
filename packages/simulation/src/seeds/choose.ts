// Random choices from a seed, in the few forms that scripts need.

import type { Random } from '../time/random.ts'

/** Returns true with the given probability in percent. */
export const chance = (random: Random, percent: number): boolean => random.below(100) < percent

/** A random whole number between two bounds, both included. */
export const between = (random: Random, least: number, most: number): number =>
  least + random.below(most - least + 1)

export function oneOf<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[random.below(choices.length)]
  if (chosen === undefined) throw new RangeError('nothing to choose from')
  return chosen
}

/** Chooses a random item; an item with a higher weight is chosen more often. */
export function weighted<T>(random: Random, choices: readonly (readonly [number, T])[]): T {
  const total = choices.reduce((sum, [weight]) => sum + weight, 0)
  let drawn = random.below(total)
  for (const [weight, choice] of choices) {
    if (drawn < weight) return choice
    drawn -= weight
  }
  throw new RangeError('nothing to choose from')
}
