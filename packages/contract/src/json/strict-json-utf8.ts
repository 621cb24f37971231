// Decodes UTF-8 without loss: invalid bytes are reported, never replaced. Also converts positions in the text to byte
// offsets.

interface FatalDecoder {
  decode(bytes: Uint8Array): string
}
// TextDecoder is a global of browsers and Node that the configured type library does not declare.
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => FatalDecoder

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8. Undefined if the bytes are not valid UTF-8. A byte order mark stays in the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** The number of valid UTF-8 bytes from the start: all bytes, or the offset of the first invalid sequence. */
export function validUtf8Length(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at)
    if (length === 0) return at
    at += length
  }
  return at
}

/** Length of the UTF-8 sequence that starts at this position, or 0 if the sequence is invalid. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  // The allowed range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  if (!isBetween(bytes[at + 1], lowest, highest)) return 0
  for (let rest = 2; rest < length; rest++) if (!isBetween(bytes[at + rest], 0x80, 0xbf)) return 0
  return length
}

function isBetween(byte: number | undefined, lowest: number, highest: number): boolean {
  return byte !== undefined && byte >= lowest && byte <= highest
}

/** Size of the text in UTF-8 bytes. Half a surrogate pair is encoded as a replacement character of three bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    bytes += code < 0x800 ? 1 : 2
    // A surrogate pair is two UTF-16 units but four UTF-8 bytes. Its first unit was already counted as three bytes.
    if (code >= 0xd800 && code <= 0xdbff && isLowSurrogate(text.charCodeAt(at + 1))) at++
  }
  return bytes
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
