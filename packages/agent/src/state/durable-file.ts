// Replaces a file atomically: writes a temporary file beside it, syncs and renames that file, and syncs the folder.

import { constants } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** File mode: only the owner can read and write. */
const MODE = 0o600

export async function writeDurably(path: string, text: string): Promise<void> {
  const beside = `${path}.new`
  const file = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, MODE)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
  await syncFolder(dirname(path))
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
