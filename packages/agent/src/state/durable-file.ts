// Replaces a file atomically: writes a temporary file beside it, syncs and renames that file, and syncs the folder.

import { constants } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** File mode: only the owner can read and write. */
const MODE = 0o600

export async function writeDurably(path: string, text: string): Promise<void> {
  const beside = `${path}.new`
  try {
    await writeNew(beside, text)
    await rename(beside, path)
  } catch (error) {
    // On a full disk, half a file would occupy the space that the next one needs.
    await rm(beside, { force: true }).catch(() => {})
    throw error
  }
  await syncFolder(dirname(path))
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, MODE)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The result of a file operation; undefined if the file is absent. Every other error is passed on. */
export async function ifExists<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Reads a file; undefined if there is none. */
export const readIfExists = (path: string): Promise<string | undefined> => ifExists(readFile(path, 'utf8'))

/** Whether a write failed because the disk, or its quota, has no space or no inode left. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
