// How the content of a backup is divided: which archived revisions fit into it, and into which parts its text is cut.

/** The number of revisions, from the newest on, that together have at most `maxBytes`. `sizes` begins with the oldest. */
export function fitRevisions(sizes: readonly number[], maxBytes: number): number {
  let sum = 0
  const tooMany = sizes.toReversed().findIndex((bytes) => {
    sum += bytes
    return sum > maxBytes
  })
  return tooMany < 0 ? sizes.length : tooMany
}

/** Cuts a text into parts of at most `maxBytes` bytes of UTF-8. No part ends inside a character. */
export function splitText(text: string, maxBytes: number): string[] {
  const parts: string[] = []
  let [from, bytes] = [0, 0]
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0
    const size = utf8Size(point)
    if (size > maxBytes) throw new RangeError(`a character needs more than ${maxBytes} bytes`)
    if (bytes + size > maxBytes) {
      parts.push(text.slice(from, at))
      from = at
      bytes = 0
    }
    bytes += size
    at += point > 0xffff ? 2 : 1
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

/** The number of bytes of a character in UTF-8. */
function utf8Size(point: number): number {
  if (point < 0x80) return 1
  if (point < 0x800) return 2
  return point < 0x10000 ? 3 : 4
}
