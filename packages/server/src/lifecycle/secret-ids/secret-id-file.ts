// The file of a secret id, and beside it a note of the previous one while that is not yet destroyed. Each is replaced as a
// whole and is on disk when the call returns.

import { accessSync, constants, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceFile, syncFolder } from '../../lib/replace-file.ts'
import { type Secret, secret } from '../../ports/secret.ts'

export interface SecretIdFile {
  readonly path: string
  /** Whether this process may replace the file: credentials of systemd and mounted secrets are read-only. */
  isReplaceable(): boolean
  read(): Secret | undefined
  readPrevious(): Secret | undefined
  /** Keeps the previous value as a note first, so that a crash leaves either value in the file and loses none. */
  replace(previous: Secret, next: Secret): void
  forgetPrevious(): void
}

export function openSecretIdFile(path: string): SecretIdFile {
  const note = `${path}.previous`
  const write = (to: string, value: Secret): void => {
    replaceFile(to, `${value.reveal()}\n`)
    syncFolder(dirname(path))
  }
  return {
    path,
    isReplaceable: () => isWritable(dirname(path)) && isWritable(path),
    read: () => readValue(path),
    readPrevious: () => readValue(note),
    replace(previous, next) {
      write(note, previous)
      write(path, next)
    },
    forgetPrevious() {
      rmSync(note, { force: true })
      syncFolder(dirname(path))
    },
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function readValue(path: string): Secret | undefined {
  try {
    return secret(readFileSync(path, 'utf8').replace(/\r?\n$/, ''))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
