// Writes streams of `btrfs send`, version 1, command by command, so that tests can send what no btrfs would. The checksums
// are those of the format: 32 bits that anyone can compute.

const MAGIC = Buffer.concat([Buffer.from('btrfs-stream\0', 'latin1'), le32(1)])

const COMMANDS = {
  subvolume: 1,
  snapshot: 2,
  mkfile: 3,
  mkdir: 4,
  mknod: 5,
  symlink: 8,
  rename: 9,
  link: 10,
  unlink: 11,
  setXattr: 13,
  write: 15,
  clone: 16,
  truncate: 17,
  chmod: 18,
  end: 21,
} as const
export type StreamCommand = keyof typeof COMMANDS

const ATTRIBUTES = {
  uuid: 1,
  ctransid: 2,
  ino: 3,
  size: 4,
  mode: 5,
  rdev: 8,
  xattrName: 13,
  xattrData: 14,
  path: 15,
  pathTo: 16,
  pathLink: 17,
  fileOffset: 18,
  data: 19,
  cloneUuid: 20,
  cloneCtransid: 21,
  clonePath: 22,
  cloneOffset: 23,
  cloneLen: 24,
} as const

/** Texts and bytes are written as they are, numbers in 8 bytes. */
export type StreamAttributes = { readonly [name in keyof typeof ATTRIBUTES]?: string | Buffer | number }

export const streamOf = (...commands: readonly Buffer[]): Buffer => Buffer.concat([MAGIC, ...commands])

/** A stream with a checkpoint of this name that contains an empty file, and further commands. */
export const checkpointStream = (name: string, uuid: Buffer, ...commands: readonly Buffer[]): Buffer =>
  streamOf(
    command('subvolume', { path: name, uuid, ctransid: 9 }),
    command('mkfile', { path: 'file', ino: 300 }),
    ...commands,
    command('end'),
  )

/** The command that copies the first page of a file of the subvolume with the UUID. */
export const cloneFrom = (uuid: Buffer, clonePath: string | Buffer): Buffer =>
  command('clone', {
    path: 'file',
    fileOffset: 0,
    cloneLen: 4096,
    cloneUuid: uuid,
    cloneCtransid: 9,
    clonePath,
    cloneOffset: 0,
  })

/** `code` replaces the number of the command. */
export function command(
  name: StreamCommand,
  attributes: StreamAttributes = {},
  code: number = COMMANDS[name],
): Buffer {
  const body = Buffer.concat(
    Object.entries(attributes).map(([key, value]) => attribute(codeOf(key), bytesOf(value))),
  )
  const whole = Buffer.concat([le32(body.length), le16(code), le32(0), body])
  whole.writeUInt32LE(crc32c(whole), 6)
  return whole
}

const codeOf = (name: string): number => Object(ATTRIBUTES)[name]

const attribute = (type: number, value: Buffer): Buffer =>
  Buffer.concat([le16(type), le16(Math.min(value.length, 0xffff)), value])

function bytesOf(value: string | Buffer | number): Buffer {
  if (typeof value !== 'number') return Buffer.from(value)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function le16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function le32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const POLYNOMIAL = 0x82f63b78

/** CRC-32C that begins with 0 and is not inverted. */
function crc32c(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
  }
  return crc >>> 0
}
