// Reads and writes the files of a setup. A file appears under its name only when it is complete, with its mode and owner.

import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../lib/replace-file.ts'
import type { Machine } from './machine.ts'

type Owners = Pick<Machine, 'giveTo'>

interface Target {
  readonly path: string
  readonly mode: number
  readonly owner: string
}

export function writeOwned(owners: Owners, { path, mode, owner }: Target, content: string): void {
  const next = `${path}.new`
  rmSync(next, { force: true })
  const file = openSync(next, 'wx', 0o600)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  chmodSync(next, mode)
  owners.giveTo(next, owner)
  renameSync(next, path)
  syncFolder(dirname(path))
}

export function createFolder(owners: Owners, { path, mode, owner }: Target): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
  owners.giveTo(path, owner)
}

export function removeFile(path: string): void {
  rmSync(path, { force: true })
  syncFolder(dirname(path))
}

/** The text of a file; undefined if it does not exist. */
export const readIfPresent = (path: string): string | undefined =>
  statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : readFileSync(path, 'utf8')
