// Decodes the output of btrfs commands and the superblock of a pool's file. Output that has another form is an error,
// because a line that is skipped would look like a volume that does not exist.

import { PoolError } from '../../ports/volume-pool.ts'

export interface Subvolume {
  readonly id: number
  readonly generation: number
  readonly uuid: string
  /** Undefined if the subvolume was not received. */
  readonly receivedUuid: string | undefined
  /** From the root of the file system. */
  readonly path: string
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const SUBVOLUME = new RegExp(
  `^ID (\\d+) gen (\\d+) top level \\d+ received_uuid (${UUID}|-) +uuid (${UUID}) path (.+)$`,
)
const FILE_SYSTEM = new RegExp(`^Label: .* uuid: (${UUID})$`, 'm')

const unreadable = (what: string, line: string): PoolError =>
  new PoolError('unreadable', `${what} has an unknown form: ${JSON.stringify(line.slice(0, 200))}`)

const linesOf = (output: string): string[] => output.split('\n').filter((line) => line !== '')

/**
 * Decodes `btrfs subvolume list -o -R -u`. The name of a received subvolume comes from another node and may contain line
 * feeds, so two lines with one id or path are an error: one of them is forged.
 */
export function decodeSubvolumes(output: string): Subvolume[] {
  const subvolumes = linesOf(output).map(decodeSubvolume)
  for (const key of ['id', 'path'] as const)
    if (new Set(subvolumes.map((one) => one[key])).size !== subvolumes.length)
      throw new PoolError('unreadable', `The list of subvolumes names one ${key} twice.`)
  return subvolumes
}

function decodeSubvolume(line: string): Subvolume {
  const [, id, generation, received, uuid, path] = SUBVOLUME.exec(line) ?? []
  if (id === undefined || uuid === undefined || path === undefined)
    throw unreadable('A line of btrfs subvolume list', line)
  const receivedUuid = received === '-' ? undefined : received
  return { id: Number(id), generation: Number(generation), uuid, receivedUuid, path }
}

/** Decodes only the ids of `btrfs subvolume list`. Names with line feeds can add false ids: resolve each before use. */
export function decodeSubvolumeIds(output: string): number[] {
  const ids = linesOf(output).map((line) => /^ID (\d+) gen /.exec(line)?.[1])
  return [...new Set(ids.filter((id) => id !== undefined).map(Number))]
}

export function decodeFileSystemId(output: string): string {
  const id = FILE_SYSTEM.exec(output)?.[1]
  if (id === undefined) throw unreadable('The output of btrfs filesystem show', output)
  return id
}

export function decodeCount(what: string, output: string): number {
  const text = output.trim()
  if (!/^\d{1,20}$/.test(text)) throw unreadable(what, text)
  return Number(text)
}

/** Position and length of the part of the superblock that has the file system id and the magic number. */
export const SUPERBLOCK = { position: 0x1_0000, length: 0x48 }
const ID_POSITION = 0x20
const MAGIC_POSITION = 0x40
const MAGIC = '_BHRfS_M'

/** The file system id in the superblock; undefined if the bytes are no btrfs superblock. */
export function decodeSuperblock(bytes: Buffer): string | undefined {
  if (bytes.toString('latin1', MAGIC_POSITION, MAGIC_POSITION + MAGIC.length) !== MAGIC) return undefined
  const hex = bytes.toString('hex', ID_POSITION, ID_POSITION + 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
