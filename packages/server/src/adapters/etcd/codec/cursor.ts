// Reads the protobuf wire types that etcd uses from a buffer. Written by hand, because decoding lists and watches is a
// hot path, and because an int64 must become either an exact number or an error.

/** A reader of `bytes` from `pos` up to `end`; every read moves `pos`. */
export interface Cursor {
  readonly bytes: Buffer
  pos: number
  end: number
}

const LOW_BITS = 0xfffffff
const TWO_POW_28 = 2 ** 28

export function cursorOver(bytes: Buffer): Cursor {
  return { bytes, pos: 0, end: bytes.length }
}

/** Reads the tag of a protobuf field, which is the field number and wire type as one number: `field * 8 + wireType`. */
export function readTag(cursor: Cursor): number {
  return readInt64(cursor)
}

/** Reads an int64 as a number. Throws beyond 2^53, because a rounded revision would silently lose or repeat events. */
export function readInt64(cursor: Cursor): number {
  const first = cursor.bytes[cursor.pos] ?? 0x80
  if (first < 0x80) {
    cursor.pos += 1
    return first
  }
  const low = readBits(cursor, 28)
  if (low < 0) return ~low
  const middle = readBits(cursor, 28)
  if (middle < 0) return requireSafe(low + ~middle * TWO_POW_28)
  const high = readBits(cursor, 14)
  const negative = high < 0 && (~high & 0xff) === 0xff
  return requireSafe(
    negative ? -((~low & LOW_BITS) + (~middle & LOW_BITS) * TWO_POW_28 + 1) : Number.POSITIVE_INFINITY,
  )
}

function requireSafe(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError('etcd sent an integer beyond 2^53')
  return value
}

/** Reads up to `width` bits of a varint. Returns the bits, or their complement (negative) if the varint is complete. */
function readBits(cursor: Cursor, width: number): number {
  let value = 0
  for (let shift = 0; shift < width; shift += 7) {
    const byte = readByte(cursor)
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return ~value
  }
  return value
}

function readByte(cursor: Cursor): number {
  const byte = cursor.bytes[cursor.pos]
  if (byte === undefined || cursor.pos >= cursor.end) throw new RangeError('etcd sent a truncated message')
  cursor.pos += 1
  return byte
}

/** Reads a uint64 that is an id and needs all 64 bits. */
export function readIdentity(cursor: Cursor): bigint {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = readByte(cursor)
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}

export function readBool(cursor: Cursor): boolean {
  return readInt64(cursor) !== 0
}

/** Reads the length of a length-delimited field and returns the field's end; `pos` is then at the field's first byte. */
export function readLength(cursor: Cursor): number {
  const length = readInt64(cursor)
  const end = cursor.pos + length
  if (length < 0 || end > cursor.end)
    throw new RangeError('etcd sent a field that is longer than its message')
  return end
}

export function readString(cursor: Cursor): string {
  const end = readLength(cursor)
  const text = cursor.bytes.toString('utf8', cursor.pos, end)
  cursor.pos = end
  return text
}

/**
 * Reads bytes that the caller may keep. A value smaller than half of the message is copied into Node's small pool, so
 * that a kept value retains at most 8 KB or twice its own size in memory, never a message of megabytes.
 */
export function readBytes(cursor: Cursor): Uint8Array {
  const end = readLength(cursor)
  const view = cursor.bytes.subarray(cursor.pos, end)
  cursor.pos = end
  return view.length * 2 >= cursor.bytes.length ? view : Buffer.from(view)
}

/** Reads an embedded message with `read`, which must consume `cursor` up to the end of that message. */
export function readMessage<T>(cursor: Cursor, read: (cursor: Cursor) => T): T {
  const end = readLength(cursor)
  const outerEnd = cursor.end
  cursor.end = end
  const message = read(cursor)
  if (cursor.pos !== end) throw new RangeError('etcd sent a field that runs past its message')
  cursor.end = outerEnd
  return message
}

/** Skips a protobuf field that this codec does not use; newer versions of etcd add such fields. */
export function skipField(cursor: Cursor, tag: number): void {
  const wireType = tag & 7
  if (wireType === 0) readIdentity(cursor)
  else if (wireType === 2) cursor.pos = readLength(cursor)
  else if (wireType === 5) cursor.pos += 4
  else if (wireType === 1) cursor.pos += 8
  else throw new RangeError(`etcd sent the unknown wire type ${wireType}`)
}
