// `help rollout undo` is `rollout undo --help`. Nothing that follows `help` is ever run.

export interface Tree {
  readonly commands: readonly { readonly name: string }[]
  readonly groups: { readonly [word: string]: string }
}

/** What to parse instead; of a command that nobody knows, its words, so that the nearest one is named. */
export function helpWords(typed: readonly string[], { commands, groups }: Tree): string[] {
  const words = typed.filter((word) => !word.startsWith('-'))
  const [command] = commands
    .map(({ name }) => name.split(' '))
    .filter((name) => name.every((word, at) => words[at] === word))
  if (command !== undefined) return [...command, '--help']
  const [first = ''] = words
  const isWhole = words.length === 0 || (words.length === 1 && Object.hasOwn(groups, first))
  return isWhole ? [...words, '--help'] : words
}
