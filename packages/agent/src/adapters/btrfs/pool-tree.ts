// The folders of a pool and the subvolumes in them. Folders and names are chosen by the agent; a container can create
// subvolumes inside its volume, and a stream can bring any names into `incoming`.
//
//   volumes/<volume>                                        the live data, mounted for containers
//   checkpoints/<volume>/<epoch>.<number>/<epoch>.<number>  read-only states, taken here or received
//   incoming/<random>/<epoch>.<number>                      a receive that is not complete
//   quarantine/<volume>/<epoch>/                            data that must not be used and is not deleted
//   notes/<name>.json                                       small files of the agent, such as the epochs of volumes

import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PoolError } from '../../ports/volume-pool.ts'
import { ifExists } from '../../state/durable-file.ts'
import type { Commands } from './commands.ts'
import { decodeCount, decodeSubvolumeIds, decodeSubvolumes, type Subvolume } from './decode-output.ts'

export const FOLDERS = {
  volumes: 'volumes',
  checkpoints: 'checkpoints',
  incoming: 'incoming',
  quarantine: 'quarantine',
  notes: 'notes',
} as const
/** The folder of a primary's data in quarantine, and the names by which states of an epoch are kept there. */
export const LIVE = 'live'
export const QUARANTINE_NAME = /^(\d{1,15})(?:-\d{1,3})?$/
const VOLUME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

export interface ListedSubvolume extends Subvolume {
  readonly isReadOnly: boolean
}

export interface PoolTree {
  /** The absolute path of a place in the pool. */
  at(...names: readonly string[]): string
  /** A path of the pool as the kernel names it, from the root of the file system. */
  inFileSystem(path: string): Promise<string>
  flush(): Promise<void>
  /** Lists the subvolumes outside of other subvolumes, with paths from the pool's root. */
  list(): Promise<ListedSubvolume[]>
  /** The same by one command, without telling which of them are read-only. */
  listAny(): Promise<Subvolume[]>
  /** Those that are read-only, by one command. */
  listReadOnly(): Promise<Subvolume[]>
  /** The ids of all subvolumes at or below paths of the pool, deepest first. */
  idsBelow(...paths: readonly string[]): Promise<number[]>
  /** Deletes the subvolumes at or below paths. */
  deleteBelow(...paths: readonly string[]): Promise<void>
  /** Empties a folder of the pool. */
  removeAll(folder: string): Promise<void>
}

/** Returns the volume's name. Throws if it could leave its folder. */
export function requireName(volume: string): string {
  if (!VOLUME.test(volume)) throw new TypeError(`${JSON.stringify(volume)} is no name of a volume.`)
  return volume
}

export function createPoolTree(commands: Commands, root: string): PoolTree {
  const btrfs = (...args: readonly string[]): Promise<string> => commands.run('btrfs', args)
  const at = (...names: readonly string[]): string => join(root, ...names)
  const resolveId = async (id: number): Promise<string> =>
    (await btrfs('inspect-internal', 'subvolid-resolve', String(id), root)).replace(/\n$/, '')
  /** The prefix of the pool's paths: empty unless the pool is a subvolume of a larger file system. */
  const readPrefix = async (): Promise<string> => {
    const path = await resolveId(decodeCount('rootid', await btrfs('inspect-internal', 'rootid', root)))
    return path === '' ? '' : `${path}/`
  }
  let prefix: Promise<string> | undefined
  const prefixed = async (path: string): Promise<string> => {
    prefix ??= readPrefix()
    return `${await prefix}${path}`
  }

  async function listDirect(...options: readonly string[]): Promise<Subvolume[]> {
    const start = await prefixed('')
    const listed = decodeSubvolumes(await btrfs('subvolume', 'list', '-o', '-R', '-u', ...options, root))
    return listed.map((one) => ({ ...one, path: one.path.slice(start.length) }))
  }

  async function listPresent(...options: readonly string[]): Promise<Subvolume[]> {
    const listed = await listDirect(...options)
    const present = await Promise.all(listed.map(({ path }) => ifExists(lstat(at(path)))))
    // A line that a name with line feeds added has no file.
    return listed.filter((_, index) => present[index] !== undefined)
  }

  async function list(): Promise<ListedSubvolume[]> {
    const [all, listedReadOnly] = await Promise.all([listPresent(), listDirect('-r')])
    const readOnly = new Set(listedReadOnly.map(({ id }) => id))
    return all.map((one) => ({ ...one, isReadOnly: readOnly.has(one.id) }))
  }

  async function idsBelow(...paths: readonly string[]): Promise<number[]> {
    const elsewhere = (await listDirect()).filter(({ path }) => !isBelow(path, paths)).map(({ id }) => id)
    const ids = decodeSubvolumeIds(await btrfs('subvolume', 'list', root))
    const tops = await Promise.all(paths.map(prefixed))
    const found: { id: number; depth: number }[] = []
    for (const id of ids.filter((one) => !elsewhere.includes(one))) {
      const path = await ifKnown(resolveId(id))
      if (path !== undefined && isBelow(path, tops)) found.push({ id, depth: path.split('/').length })
    }
    return found.toSorted((a, b) => b.depth - a.depth).map(({ id }) => id)
  }

  async function deleteBelow(...paths: readonly string[]): Promise<void> {
    for (const path of sealedBelow(paths, await listPresent('-r'))) await unseal(commands, at(path))
    for (const id of await idsBelow(...paths))
      await btrfs('subvolume', 'delete', '--subvolid', String(id), root)
  }

  return {
    at,
    inFileSystem: async (path) => `/${await prefixed(path)}`,
    list,
    listAny: () => listPresent(),
    listReadOnly: () => listPresent('-r'),
    idsBelow,
    deleteBelow,
    flush: async () => void (await btrfs('filesystem', 'sync', root)),
    async removeAll(folder) {
      const names = await readdir(at(folder))
      if (names.length === 0) return
      await deleteBelow(folder)
      for (const name of names) await rm(at(folder, name), { recursive: true, force: true })
    },
  }
}

const isBelow = (path: string, tops: readonly string[]): boolean =>
  tops.some((top) => path === top || path.startsWith(`${top}/`))

/** The quarantined data of primaries, which is read-only. */
const sealedBelow = (tops: readonly string[], readOnly: readonly Subvolume[]): string[] =>
  readOnly.map(({ path }) => path).filter((path) => isBelow(path, tops) && path.endsWith(`/${LIVE}`))

/** A subvolume that a container created inside its volume cannot be deleted while the volume is read-only. */
async function unseal(commands: Commands, place: string): Promise<void> {
  await commands.run('btrfs', ['property', 'set', '-ts', place, 'ro', 'false'])
}

/** A subvolume that was deleted since the list, or an id that a name with line feeds added, does not resolve. */
async function ifKnown<T>(resolving: Promise<T>): Promise<T | undefined> {
  try {
    return await resolving
  } catch (error) {
    if (error instanceof PoolError && error.failed?.lastLine.endsWith('error -2')) return undefined
    throw error
  }
}
