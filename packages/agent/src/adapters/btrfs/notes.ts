// Notes in a pool: small files that belong to the volumes and go where the pool goes, also to a new installation of the
// agent.

import { readdir, readFile, rm } from 'node:fs/promises'
import type { VolumePool } from '../../ports/volume-pool.ts'
import { syncFolder, writeDurably } from '../../state/durable-file.ts'
import { FOLDERS, type PoolTree, requireName } from './pool-tree.ts'

const SUFFIX = '.json'

export function createNotes(tree: PoolTree): Pick<VolumePool, 'readNotes' | 'writeNote' | 'removeNote'> {
  const pathOf = (name: string): string => tree.at(FOLDERS.notes, `${requireName(name)}${SUFFIX}`)
  return {
    async readNotes() {
      const files = (await readdir(tree.at(FOLDERS.notes))).filter((file) => file.endsWith(SUFFIX))
      const notes = await Promise.all(
        files.map(async (file) => {
          const text = await readFile(tree.at(FOLDERS.notes, file), 'utf8')
          return [file.slice(0, -SUFFIX.length), text] as const
        }),
      )
      return new Map(notes)
    },
    writeNote: (name, text) => writeDurably(pathOf(name), text),
    async removeNote(name) {
      await rm(pathOf(name), { force: true })
      await syncFolder(tree.at(FOLDERS.notes))
    },
  }
}
