// Limits and usage of the subvolumes of a pool, by quota groups. Values come from sysfs: reading them costs no process,
// and no file name can distort them.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PoolError } from '../../ports/volume-pool.ts'
import { ifExists } from '../../state/durable-file.ts'
import type { Commands } from './commands.ts'
import { decodeCount } from './decode-output.ts'

/** The height of the tallest tree: deleting a subvolume then never makes the usage of the others unknown. */
const SUBTREE_THRESHOLD = 8
/** The flag of a quota group whose limit on referenced bytes is in effect. */
const LIMIT_REFERENCED = 1

export interface Quota {
  readonly limitBytes: number | undefined
  readonly usedBytes: number | undefined
}

export interface Quotas {
  /** Enables quotas and sets the threshold, which the kernel forgets with each mount. */
  enable(): Promise<void>
  setLimit(path: string, limitBytes: number): Promise<void>
  /** Reads limits and usage. Usage that the kernel calls inconsistent is unknown; counting it again is started. */
  read(subvolumeIds: readonly number[]): Promise<ReadonlyMap<number, Quota>>
}

export function createQuotas(commands: Commands, root: string, fileSystemId: string): Quotas {
  const folder = join('/sys/fs/btrfs', fileSystemId, 'qgroups')
  const readCount = async (name: string): Promise<number | undefined> => {
    const text = await ifExists(readFile(join(folder, name), 'utf8'))
    return text === undefined ? undefined : decodeCount(join(folder, name), text)
  }
  const readQuota = async (id: number): Promise<Quota> => {
    const names = ['limit_flags', 'max_referenced', 'referenced']
    const [flags, limit, usedBytes] = await Promise.all(names.map((name) => readCount(`0_${id}/${name}`)))
    const isLimited = flags !== undefined && (flags & LIMIT_REFERENCED) !== 0
    return { limitBytes: isLimited ? limit : undefined, usedBytes }
  }
  return {
    async enable() {
      if ((await readCount('enabled')) !== 1) await commands.run('btrfs', ['quota', 'enable', root])
      if ((await readCount('drop_subtree_threshold')) === undefined)
        throw new PoolError(
          'unsupported',
          'The kernel has no exact quotas of btrfs: Linux 6.1 or newer is needed.',
        )
      await writeFile(join(folder, 'drop_subtree_threshold'), String(SUBTREE_THRESHOLD))
    },
    async setLimit(path, limitBytes) {
      await commands.run('btrfs', ['qgroup', 'limit', String(limitBytes), path])
    },
    async read(subvolumeIds) {
      const isConsistent = (await readCount('inconsistent')) === 0
      if (!isConsistent) await startRescan(commands, root)
      const quotas = await Promise.all(subvolumeIds.map(readQuota))
      const known = quotas.map((quota) => (isConsistent ? quota : { ...quota, usedBytes: undefined }))
      return new Map(known.map((quota, at) => [subvolumeIds[at] ?? 0, quota]))
    },
  }
}

/** Starts to count usage again; succeeds if the kernel already does. */
async function startRescan(commands: Commands, root: string): Promise<void> {
  try {
    await commands.run('btrfs', ['quota', 'rescan', root])
  } catch (error) {
    if (!(error instanceof PoolError) || !error.failed?.lastLine.includes('in progress')) throw error
  }
}
