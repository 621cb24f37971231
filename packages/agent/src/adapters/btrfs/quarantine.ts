// The quarantine of a pool: data that must not be used and is not deleted, because it may have writes that no other copy
// has. It is read-only and never mounted; its bytes fill the pool.
//
//   quarantine/<volume>/<epoch>/live                      the live data of an earlier primary
//   quarantine/<volume>/<epoch>/checkpoints/...           the checkpoints of a copy that the node should not have
//
// A second one of the same epoch is named <epoch>-2.

import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { QuarantinedFacts } from '../../ports/volume-pool.ts'
import { ifExists } from '../../state/durable-file.ts'
import type { Commands } from './commands.ts'
import { FOLDERS, LIVE, type PoolTree, QUARANTINE_NAME, requireName } from './pool-tree.ts'
import type { Quotas } from './quotas.ts'

/** More of one epoch than an agent can make: each needs a new primary of this epoch on this node. */
const MOST_NAMES = 999

export interface Quarantine {
  list(): Promise<QuarantinedFacts[]>
  /** Moves data that is not mounted. Succeeds if there is nothing left to move. */
  add(volume: string, epoch: number, parts: 'live' | 'all'): Promise<void>
  remove(quarantined: Pick<QuarantinedFacts, 'volume' | 'name'>): Promise<void>
  /** Makes all live data in quarantine read-only, which an interrupted `add` may have left out. */
  seal(): Promise<void>
}

export function createQuarantine(commands: Commands, tree: PoolTree, quotas: Quotas): Quarantine {
  const isPresent = async (path: string): Promise<boolean> => (await ifExists(lstat(path))) !== undefined
  const namesIn = async (...path: readonly string[]): Promise<string[]> =>
    (await ifExists(readdir(tree.at(FOLDERS.quarantine, ...path)))) ?? []
  // A read-only subvolume cannot be moved, so the data becomes read-only in its new place.
  const sealLive = (folder: string): Promise<string> =>
    commands.run('btrfs', ['property', 'set', '-ts', join(folder, LIVE), 'ro', 'true'])

  async function freeFolder(volume: string, epoch: number): Promise<string> {
    for (let count = 1; count <= MOST_NAMES; count += 1) {
      const name = count === 1 ? String(epoch) : `${epoch}-${count}`
      const folder = tree.at(FOLDERS.quarantine, volume, name)
      if (!(await isPresent(folder))) return folder
    }
    throw new Error(`The quarantine of ${volume} has no name left for epoch ${epoch}.`)
  }

  async function list(): Promise<QuarantinedFacts[]> {
    const volumes = await namesIn()
    if (volumes.length === 0) return []
    const used = await usedBytes(tree, quotas)
    const facts: QuarantinedFacts[] = []
    for (const volume of volumes)
      for (const name of await namesIn(volume)) {
        const epoch = QUARANTINE_NAME.exec(name)?.[1]
        if (epoch === undefined) continue
        const found = await ifExists(stat(tree.at(FOLDERS.quarantine, volume, name)))
        // An operator may have deleted the data since the folder was listed.
        if (found === undefined) continue
        const { birthtime } = found
        const bytes = used(join(FOLDERS.quarantine, volume, name))
        facts.push({ volume, epoch: Number(epoch), name, since: birthtime.toISOString(), usedBytes: bytes })
      }
    return facts
  }
  return {
    list,
    async add(volume, epoch, parts) {
      const live = tree.at(FOLDERS.volumes, volume)
      const checkpoints = tree.at(FOLDERS.checkpoints, volume)
      const [hasLive, hasCheckpoints] = [
        await isPresent(live),
        parts === 'all' && (await isPresent(checkpoints)),
      ]
      if (!hasLive && !hasCheckpoints) return
      const folder = await freeFolder(volume, epoch)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      if (hasLive) {
        await rename(live, join(folder, LIVE))
        await sealLive(folder)
      }
      if (hasCheckpoints) await rename(checkpoints, join(folder, FOLDERS.checkpoints))
      await tree.flush()
    },
    async remove({ volume, name }) {
      const folder = join(FOLDERS.quarantine, requireName(volume), requireName(name))
      await tree.deleteBelow(folder)
      await rm(tree.at(folder), { recursive: true, force: true })
      await tree.flush()
    },
    async seal() {
      for (const volume of await namesIn())
        for (const name of await namesIn(volume)) {
          const folder = tree.at(FOLDERS.quarantine, volume, name)
          if (await isPresent(join(folder, LIVE))) await sealLive(folder)
        }
    },
  }
}

/** The bytes of the largest subvolume below a path of the pool; undefined while one is unknown. The others share most of it. */
async function usedBytes(tree: PoolTree, quotas: Quotas): Promise<(path: string) => number | undefined> {
  const subvolumes = await tree.list()
  const quotaOf = await quotas.read(subvolumes.map(({ id }) => id))
  return (path) => {
    const below = subvolumes.filter((one) => one.path.startsWith(`${path}/`))
    const known = below.flatMap(({ id }) => quotaOf.get(id)?.usedBytes ?? [])
    return known.length < below.length ? undefined : Math.max(0, ...known)
  }
}
