// Finds files that import one another in a cycle. Each cycle is reported with all its files, shortest first.

/** One shortest cycle through each file that is on any cycle; each cycle is listed once, as [a, b, c, a]. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found = new Map<string, string[]>()
  for (const start of graph.keys()) {
    const cycle = shortestWayBack(graph, start)
    if (cycle === undefined) continue
    const key = [...new Set(cycle)].toSorted().join('\n')
    if (!found.has(key)) found.set(key, cycle)
  }
  return [...found.values()].toSorted((a, b) => a.length - b.length)
}

export const showCycle = (cycle: readonly string[]): string => `import cycle: ${cycle.join(' -> ')}`

function shortestWayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return wayTo(file, start, cameFrom)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return undefined
}

function wayTo(last: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [start]
  for (let file: string | undefined = last; file !== undefined && file !== start; file = cameFrom.get(file)) {
    way.unshift(file)
  }
  return [start, ...way]
}
