// The file in which a server remembers the store: cluster id, epoch, revision and heartbeats. It is outside the store, so a
// server that starts after etcd was restored recognises that (docs/design/restored-stores.md#servers).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeOpen, type Infer, integer, object, optional, string } from '@holdfast/contract'
import { replaceFile } from '../lib/replace-file.ts'

const KNOWN_STORE_FILE = 'store.json'

const knownStoreShape = object({
  v: integer(),
  epoch: string(),
  clusterId: optional(string()),
  revision: integer(),
  /** The chain of this server's heartbeats, and how many it has written. */
  chain: object({ id: string(), count: integer() }),
  writtenAt: string(),
})
export type KnownStoreRecord = Infer<typeof knownStoreShape>

export interface KnownStoreFile {
  readonly path: string
  /** Undefined if the file is missing. An unreadable file is reported and treated as missing. */
  read(): KnownStoreRecord | undefined
  /** Replaces the file. A failure is reported: the server works without the file. */
  save(record: KnownStoreRecord): void
}

export function openKnownStoreFile(folder: string, onError: (error: unknown) => void): KnownStoreFile {
  const path = join(folder, KNOWN_STORE_FILE)
  return {
    path,
    read() {
      try {
        return decodeOpen(knownStoreShape, JSON.parse(readFileSync(path, 'utf8')))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) onError(error)
        return undefined
      }
    },
    save(record) {
      try {
        replaceFile(path, `${JSON.stringify(record)}\n`)
      } catch (error) {
        onError(error)
      }
    },
  }
}
