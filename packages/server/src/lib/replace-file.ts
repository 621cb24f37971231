// Replaces a small file so that a crash leaves the old or the new content, never a part.

import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'

/** File mode: only the owner can read and write. */
const MODE = 0o600

export function replaceFile(path: string, text: string): void {
  const beside = `${path}.new`
  const file = openSync(beside, 'w', MODE)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
}

/** Makes the names in a folder durable: a renamed file keeps its new name after a power failure. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
