// Checks a received stream of `btrfs send` before btrfs reads it. btrfs receive copies data of any subvolume of the pool
// whose UUID a stream names, so a node could copy a volume that it may not read into one of its own. Only checkpoints of
// the same volume are allowed. See docs/design/storage.md#checkpoints

import { PoolError } from '../../ports/volume-pool.ts'

export interface StreamRules {
  /** Name of the checkpoint that the stream must contain. */
  readonly name: string
  /** UUIDs of the volume's checkpoints in this pool, in hexadecimal digits without hyphens. */
  readonly own: ReadonlySet<string>
  /** UUIDs of every other subvolume of the pool, in the same form. */
  readonly others: ReadonlySet<string>
  /** Whether the path leads through no symbolic link in the volume's checkpoints with the UUID. */
  isPlainPath(uuid: string, path: Buffer): Promise<boolean>
}

const MAGIC = Buffer.from('btrfs-stream\0\x01\0\0\0', 'latin1')
const HEAD_BYTES = 10
/** Longest command of version 1 of the format. */
const MAX_COMMAND_BYTES = 64 * 1024
const COMMANDS = { subvolume: 1, snapshot: 2, symlink: 8, clone: 16, end: 21, last: 22 } as const
const ATTRIBUTES = { uuid: 1, path: 15, pathTo: 16, pathLink: 17, cloneUuid: 20, clonePath: 22 } as const
const { path, pathTo, pathLink, clonePath } = ATTRIBUTES

type Attributes = ReadonlyMap<number, Buffer>

/** A file in an earlier checkpoint whose data the stream copies. */
interface CloneSource {
  readonly uuid: string
  /** Names of files need not be UTF-8. */
  readonly path: Buffer
}

export interface StreamCheck {
  /**
   * Checks the next bytes and returns those that btrfs may read: whole commands only, in memory that the next call uses
   * again. Throws at the first wrong one.
   */
  add(chunk: Buffer): Promise<Buffer>
  /** Throws if the stream is not complete. */
  end(): void
}

export function createStreamCheck(rules: StreamRules): StreamCheck {
  const sources = new Map<string, CloneSource>()
  const accept = createCommandCheck(rules, (source) =>
    sources.set(`${source.uuid} ${source.path.toString('latin1')}`, source),
  )
  const pending = createPending()
  let isBegun = false
  let isEnded = false
  /** Checks the whole commands of some bytes and returns their length. */
  function checkWhole(bytes: Buffer): number {
    let at = 0
    if (!isBegun && bytes.length >= MAGIC.length) {
      if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw corrupt('it has another format')
      isBegun = true
      at = MAGIC.length
    }
    while (isBegun && bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32LE(at)
      const code = bytes.readUInt16LE(at + 4)
      if (isEnded || length > MAX_COMMAND_BYTES) throw corrupt('a command is too long or follows its end')
      if (bytes.length - at - HEAD_BYTES < length) break
      at += HEAD_BYTES + length
      isEnded = accept(code, readAttributes(bytes.subarray(at - length, at)))
    }
    return at
  }
  return {
    async add(chunk) {
      const bytes = pending.append(chunk)
      const checked = checkWhole(bytes)
      for (const { uuid, path } of sources.values())
        if (!(await rules.isPlainPath(uuid, path))) throw corrupt('a path leaves an earlier checkpoint')
      sources.clear()
      return pending.take(checked)
    },
    end() {
      if (!isEnded) throw new PoolError('interrupted', 'The stream ended early.')
      if (pending.length() > 0) throw corrupt('bytes follow its end')
    },
  }
}

const FIRST_BYTES = 256 * 1024

/** Bytes that wait for the rest of their command, in one piece of memory: new memory for each chunk costs more than a copy. */
function createPending() {
  let memory = Buffer.allocUnsafe(FIRST_BYTES)
  let [start, end] = [0, 0]
  return {
    length: () => end - start,
    append(chunk: Buffer): Buffer {
      memory.copyWithin(0, start, end)
      end -= start
      start = 0
      if (end + chunk.length > memory.length) memory = Buffer.concat([memory], 2 * (end + chunk.length))
      end += chunk.copy(memory, end)
      return memory.subarray(0, end)
    },
    take(bytes: number): Buffer {
      start = bytes
      return memory.subarray(0, bytes)
    },
  }
}

const corrupt = (what: string): PoolError =>
  new PoolError('corrupt', `The stream is not one of the expected checkpoint: ${what}.`)

/** Returns a check of the commands in their order. It returns whether the command is the last one. */
function createCommandCheck({ name, own, others }: StreamRules, onClone: (source: CloneSource) => void) {
  let uuid: string | undefined
  return (code: number, attributes: Attributes): boolean => {
    const begins = code === COMMANDS.subvolume || code === COMMANDS.snapshot
    if (begins !== (uuid === undefined)) throw corrupt('it does not hold exactly one checkpoint')
    if (code < 1 || code > COMMANDS.last) throw corrupt(`it has the unknown command ${code}`)
    requirePaths(code, attributes)
    if (begins) {
      uuid = uuidOf(attributes, ATTRIBUTES.uuid)
      if (attributes.get(path)?.toString('latin1') !== name) throw corrupt('it has another name')
      if (others.has(uuid)) throw corrupt('it has the UUID of another volume')
    }
    const copies = code === COMMANDS.snapshot || code === COMMANDS.clone
    const source = copies ? uuidOf(attributes, ATTRIBUTES.cloneUuid) : undefined
    // A file may be cloned within the checkpoint itself.
    const isOwn = source === undefined || own.has(source) || (!begins && source === uuid)
    if (!isOwn) throw corrupt('it copies data that is in no checkpoint of the volume')
    if (code === COMMANDS.clone && source !== undefined && source !== uuid)
      onClone({ uuid: source, path: Buffer.from(attributes.get(clonePath) ?? []) })
    return code === COMMANDS.end
  }
}

function uuidOf(attributes: Attributes, type: number): string {
  const bytes = attributes.get(type)
  if (bytes?.length !== 16) throw corrupt('a command has no valid UUID')
  return bytes.toString('hex')
}

function requirePaths(code: number, attributes: Attributes): void {
  // The target of a symbolic link is data.
  const types = code === COMMANDS.symlink ? [path, pathTo, clonePath] : [path, pathTo, pathLink, clonePath]
  for (const type of types) {
    const text = attributes.get(type)?.toString('latin1') ?? ''
    if (text.startsWith('/') || text.includes('\0') || text.split('/').includes('..'))
      throw corrupt('a path leaves the checkpoint')
  }
}

function readAttributes(body: Buffer): Attributes {
  const attributes = new Map<number, Buffer>()
  for (let at = 0; at < body.length; ) {
    if (body.length - at < 4) throw corrupt('an attribute is cut')
    const type = body.readUInt16LE(at)
    const end = at + 4 + body.readUInt16LE(at + 2)
    if (end > body.length || attributes.has(type)) throw corrupt('an attribute is cut or repeated')
    attributes.set(type, body.subarray(at + 4, end))
    at = end
  }
  return attributes
}
