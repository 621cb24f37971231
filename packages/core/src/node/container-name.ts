// Names a new container: the first free one of <name>, <name>.1, <name>.2 ... on its node.

/** Docker requires at least two characters, so a name of one letter starts at .1. */
export function lowestFreeName(name: string, taken: ReadonlySet<string>): string {
  if (name.length > 1 && !taken.has(name)) return name
  let index = 1
  while (taken.has(`${name}.${index}`)) index += 1
  return `${name}.${index}`
}
