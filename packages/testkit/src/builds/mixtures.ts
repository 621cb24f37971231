// The order in which processes change between two builds. A mixture states for each process whether it runs the new
// build; consecutive mixtures differ in one process.

export type Mixture = readonly boolean[]

const flipped = (mixture: Mixture, process: number): Mixture =>
  mixture.map((isNew, at) => (at === process ? !isNew : isNew))

/**
 * Every mixture once, from all processes on the old build to all on the new one. Needs an odd number of processes: with
 * an even number no such order exists.
 */
export function everyMixture(processes: number): Mixture[] {
  const count = 2 ** processes
  const walk = (path: readonly Mixture[], seen: ReadonlySet<string>): Mixture[] | undefined => {
    const last = path.at(-1) ?? []
    if (path.length === count) return last.every(Boolean) ? [...path] : undefined
    for (let process = 0; process < processes; process += 1) {
      const next = flipped(last, process)
      if (seen.has(nameOf(next))) continue
      const found = walk([...path, next], new Set([...seen, nameOf(next)]))
      if (found !== undefined) return found
    }
    return undefined
  }
  const first: Mixture = Array.from({ length: processes }, () => false)
  const found = walk([first], new Set([nameOf(first)]))
  if (found === undefined)
    throw new Error(`no order of the mixtures of ${processes} processes ends on the new build`)
  return found
}

/** One rolling update: from the old build on all processes to the new one on those of the order, one after another. */
export function rollingMixtures(order: readonly number[], processes = order.length): Mixture[] {
  const first: Mixture = Array.from({ length: processes }, () => false)
  return order.reduce<Mixture[]>(
    (path, process) => [...path, flipped(path.at(-1) ?? first, process)],
    [first],
  )
}

export const nameOf = (mixture: Mixture): string => mixture.map((isNew) => (isNew ? 'n' : 'o')).join('')

/** The process in which two consecutive mixtures differ. */
export function changedProcess(before: Mixture, after: Mixture): number {
  const changed = after.flatMap((isNew, at) => (isNew === before[at] ? [] : [at]))
  if (changed.length !== 1)
    throw new Error(`${nameOf(before)} and ${nameOf(after)} differ in ${changed.length} processes`)
  return changed[0] ?? 0
}
