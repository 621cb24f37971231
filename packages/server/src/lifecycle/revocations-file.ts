// The file in which a server remembers the tokens that were revoked and the nodes that were removed while it ran. A store that
// was restored from a backup has them again and cannot know it (docs/design/restored-stores.md#revocations).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeOpen, type Infer, integer, list, object, string } from '@holdfast/contract'
import { replaceFile } from '../lib/replace-file.ts'
import { type Clock, timestamp } from '../ports/clock.ts'
import { nodes, tokens } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const REVOCATIONS_FILE = 'revoked.json'
/** The most that are remembered; the oldest are forgotten first. */
const MOST = 10_000
/** A burst of revocations is written once in this time. */
const SAVE_MS = 1_000

const revocationsShape = object({
  v: integer(),
  revoked: list(object({ id: string(), at: string() })),
})

/** When each deleted token and node was seen to be gone, by its id. Ids are never used again. */
export type Revocations = ReadonlyMap<string, string>

export interface RevocationsFile {
  /** Undefined if the file is missing or unreadable. */
  read(): Revocations | undefined
  save(revoked: Revocations): void
}

/** `onError` is called for each failure: the server works without the file. */
export function openRevocationsFile(folder: string, onError: (error: unknown) => void): RevocationsFile {
  const path = join(folder, REVOCATIONS_FILE)
  return {
    read() {
      try {
        const { revoked }: Infer<typeof revocationsShape> = decodeOpen(
          revocationsShape,
          JSON.parse(readFileSync(path, 'utf8')),
        )
        return new Map(revoked.map(({ id, at }) => [id, at]))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) onError(error)
        return undefined
      }
    },
    save(revoked) {
      try {
        const all = [...revoked].map(([id, at]) => ({ id, at }))
        replaceFile(path, `${JSON.stringify({ v: 1, revoked: all })}\n`)
      } catch (error) {
        onError(error)
      }
    },
  }
}

const FOLDERS: readonly string[] = [tokens.folder, nodes.folder]

/** Remembers from now on which tokens and nodes are deleted. The result ends that, and writes what is not written. */
export function noteRevocations(
  store: Pick<Store, 'subscribe' | 'fault'>,
  clock: Clock,
  file: RevocationsFile,
): () => void {
  const revoked = new Map(file.read())
  let timer: NodeJS.Timeout | undefined
  let isSaved = true
  const save = (): void => {
    timer = undefined
    if (isSaved) return
    isSaved = true
    file.save(revoked)
    timer = setTimeout(save, SAVE_MS).unref()
  }
  // An empty list, unlike a missing one, proves that this server saw no revocation.
  file.save(revoked)
  const end = store.subscribe((changes) => {
    // A token or node that is missing in a restored store was not revoked.
    if (store.fault !== undefined) return
    for (const { kind, key } of changes) {
      if (kind !== 'delete' || !FOLDERS.includes(key.folder)) continue
      revoked.set(key.id, timestamp(clock))
      isSaved = false
    }
    for (const id of [...revoked.keys()].slice(0, Math.max(0, revoked.size - MOST))) revoked.delete(id)
    if (timer === undefined) save()
  })
  return () => {
    end()
    clearTimeout(timer)
    save()
    clearTimeout(timer)
  }
}
