// The nodes that hold copies of several volumes. Volumes with one writer move together, so they need a common node.

/** The elements of the first list that all others contain; empty without a list. */
export function commonNodes<T extends string>([first = [], ...others]: readonly (readonly T[])[]): T[] {
  return first.filter((node) => others.every((nodes) => nodes.includes(node)))
}
