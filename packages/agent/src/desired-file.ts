// The last desired set on this node's disk, so that a machine that boots while no server answers starts what it has.
// It holds what the server sent, which is without secret material. SAFETY 4h.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DesiredItem, decode, desiredItemShape, integer, list, object } from '@holdfast/contract'
import { writeDurably } from './durable-file.ts'

const FILE = 'desired.json'

const keptSetShape = object({ v: integer(), revision: integer(), items: list(desiredItemShape) })

export interface KeptSet {
  readonly revision: number
  readonly items: readonly DesiredItem[]
}

export interface DesiredFile {
  /** Undefined where none was kept, or what was kept cannot be read. */
  read(): Promise<KeptSet | undefined>
  /** Written soon; of sets that come meanwhile only the last. */
  keep(set: KeptSet): void
  /** Resolves when all that was kept is on disk. */
  settled(): Promise<void>
}

export function openDesiredFile(folder: string, onError: (error: unknown) => void): DesiredFile {
  const path = join(folder, FILE)
  let written = ''
  let next: KeptSet | undefined
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    while (next !== undefined) {
      const { revision, items } = next
      next = undefined
      // A resync mostly says what was known, under a later revision: that is not worth a write.
      const text = JSON.stringify(items)
      if (text === written) continue
      await writeDurably(path, `{"v":1,"revision":${revision},"items":${text}}\n`)
      written = text
    }
  }
  return {
    async read() {
      try {
        const { revision, items } = decode(keptSetShape, JSON.parse(await readFile(path, 'utf8')))
        return { revision, items }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) onError(error)
        return undefined
      }
    },
    keep(set) {
      next = set
      writing ??= write()
        .catch(onError)
        .finally(() => {
          writing = undefined
        })
    },
    settled: async () => {
      await writing
    },
  }
}
