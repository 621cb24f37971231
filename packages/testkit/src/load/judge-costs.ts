// Decides from the slices of two builds whether a hot path became more expensive. bench/README.md#cost

/** A slice of the base, and the slice of the tree that ran next to it. */
export interface Pair {
  readonly base: Cost
  readonly tree: Cost
}

/** CPU microseconds of one operation, and of an empty POST request in the same process at the same time. */
export interface Cost {
  readonly micros: number
  readonly emptyMicros: number
}

export interface Verdict {
  /** Medians of the costs in CPU microseconds. */
  readonly micros: { readonly base: number; readonly tree: number }
  /** Medians of the costs in empty POST requests. */
  readonly units: { readonly base: number; readonly tree: number }
  /** Median and quartiles of the costs of the tree over those of the base, pair by pair. */
  readonly ratio: { readonly lower: number; readonly median: number; readonly upper: number }
  readonly isDearer: boolean
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

const median = (values: readonly number[]): number => percentile(values, 0.5)

const MOST_MEDIAN = 1.05
const MOST_LOWER = 1.02

/** Throws if a cost is missing or 0. */
export function judgeCosts(pairs: readonly Pair[]): Verdict {
  const units = ({ micros, emptyMicros }: Cost): number => micros / emptyMicros
  const of = (side: keyof Pair, cost: (of: Cost) => number): number =>
    median(pairs.map((pair) => cost(pair[side])))
  const costs = pairs.flatMap(({ base, tree }) => [
    base.micros,
    base.emptyMicros,
    tree.micros,
    tree.emptyMicros,
  ])
  // Without this check, nothing would compare as dearer than nothing.
  if (costs.length === 0 || !costs.every((cost) => cost > 0 && Number.isFinite(cost)))
    throw new Error('a slice has no cost, so nothing was measured')
  const ratios = pairs.map(({ base, tree }) => tree.micros / base.micros)
  const ratio = {
    lower: percentile(ratios, 0.25),
    median: median(ratios),
    upper: percentile(ratios, 0.75),
  }
  return {
    micros: { base: of('base', ({ micros }) => micros), tree: of('tree', ({ micros }) => micros) },
    units: { base: of('base', units), tree: of('tree', units) },
    ratio,
    // The quartile keeps one odd slice of a busy machine from failing a change that costs nothing.
    isDearer: ratio.median > MOST_MEDIAN && ratio.lower > MOST_LOWER,
  }
}
