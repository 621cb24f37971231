// Credentials that were issued and not yet shown, in a file that only root can read. The file exists from the first call
// that issues a credential until the operator has seen all of them.

import { decode, type Infer, object, optional, string } from '@holdfast/contract'
import { readIfPresent, removeFile, writeOwned } from './files.ts'
import type { Machine } from './machine.ts'

const pendingShape = object({
  unsealKey: string(),
  operatorToken: string(),
  /** The first token of the platform, as soon as it exists. */
  token: optional(string()),
})
export type Pending = Infer<typeof pendingShape>

export function readPending(path: string): Pending | undefined {
  const text = readIfPresent(path)
  return text === undefined ? undefined : decode(pendingShape, JSON.parse(text))
}

export const writePending = (machine: Machine, path: string, pending: Pending): void =>
  writeOwned(machine, { path, mode: 0o600, owner: 'root' }, `${JSON.stringify(pending)}\n`)

export const removePending = (path: string): void => removeFile(path)
