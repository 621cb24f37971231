// Which known word was probably meant?

/** The closest of the words, if it is close: at most a third of its letters differ, case aside. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const candidate of known) {
    const most = Math.max(1, Math.floor(candidate.length / 3))
    if (Math.abs(candidate.length - word.length) > most) continue
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance <= most && (best === undefined || distance < best.distance))
      best = { word: candidate, distance }
  }
  return best?.word
}

/** Letters to insert, remove or replace. */
function editDistance(from: string, to: string): number {
  let before = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (before[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1)
      current[column] = Math.min(replaced, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
    }
    before = current
  }
  return before[to.length] ?? 0
}
