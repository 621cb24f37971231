// Finds the known name most similar to an unknown one, for "did you mean" in error messages.

/**
 * The known name most similar to `name`. Case, separators, plurals and the order of the words are ignored; of the
 * letters, at most a third may differ.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const candidate of known) {
    const distance = distanceOf(name, candidate)
    if (distance !== undefined && (best === undefined || distance < best.distance))
      best = { name: candidate, distance }
  }
  return best?.name
}

/** How far two names are apart; undefined if they are too different. Names of the same words are nearly equal. */
function distanceOf(name: string, candidate: string): number | undefined {
  const [from, to] = [lettersOf(name), lettersOf(candidate)]
  if (from === to) return 0
  if (sortedWords(name) === sortedWords(candidate)) return 0.5
  const most = Math.max(1, Math.floor(to.length / 3))
  if (Math.abs(from.length - to.length) > most) return undefined
  const distance = editDistance(from, to)
  return distance <= most ? distance : undefined
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[-_\s]/g, '')

/** The words of `healthCheck`, `health_check` or `check-health`, without plural endings, in alphabetical order. */
function sortedWords(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[-_\s]+/)
  return words
    .map((word) => word.replace(/(?<=[a-z]{2})s$/, ''))
    .sort()
    .join(' ')
}

/** The number of letters to insert, remove, replace or swap with a neighbor to turn one text into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
