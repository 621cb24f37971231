// Suggests a command for an unknown word: the habit of another tool, or the nearest known word.

import { nearestName } from '@holdfast/contract'
import type { Command } from '../command.ts'
import { COMMAND_HABITS } from './habits.ts'

/** A sentence for an unknown word, or undefined if nothing fits. `group`: the words before it, such as `rollout`. */
export function suggestCommand(
  commands: readonly Command[],
  group: string | undefined,
  word: string,
): string | undefined {
  const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  const habit = group === undefined ? COMMAND_HABITS[word] : undefined
  if (habit !== undefined) return habit
  const before = group === undefined ? '' : `${group} `
  const known = names.flatMap((name) =>
    name.startsWith(before) ? name.slice(before.length).split(' ', 1) : [],
  )
  const nearest = nearestName(word, [...new Set(known)])
  // A word of a group is often typed without the group: `history` for `rollout history`.
  const inGroups = names.filter((name) => name.split(' ')[1] === word).map((name) => `holdfast ${name}`)
  if (group === undefined && inGroups.length > 0 && nearest === undefined) return inGroups.join(', ')
  if (nearest === undefined) return undefined
  return `did you mean holdfast ${before}${nearest}?`
}
