// Names a new container: the first name of <name>, <name>.1, <name>.2 ... that no container on the node has.

/**
 * Docker requires names of at least two characters, so for a deployment name of one letter the first choice is <name>.1.
 */
export function lowestFreeName(name: string, taken: ReadonlySet<string>): string {
  if (name.length > 1 && !taken.has(name)) return name
  let index = 1
  while (taken.has(`${name}.${index}`)) index += 1
  return `${name}.${index}`
}
