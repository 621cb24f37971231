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

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Cuts a text into parts of at most `maxBytes` bytes of UTF-8. No part ends inside a character. */
export function splitText(text: string, maxBytes: number): string[] {
  const bytes = encoder.encode(text)
  const parts: string[] = []
  for (let from = 0; from < bytes.length; ) {
    const to = endOfPart(bytes, from + maxBytes)
    if (to <= from) throw new RangeError(`a character needs more than ${maxBytes} bytes`)
    parts.push(decoder.decode(bytes.subarray(from, to)))
    from = to
  }
  return parts
}

/** The last end of a character at or before `limit`: later bytes of a character begin with the bits 10. */
function endOfPart(bytes: Uint8Array, limit: number): number {
  let end = Math.min(limit, bytes.length)
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return end
}
