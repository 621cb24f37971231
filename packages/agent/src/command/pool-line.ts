// Parses the pool option of `holdfast-agent run`.

import { isAbsolute } from 'node:path'
import type { PoolSource } from '../ports/pool-source.ts'
import { UsageError } from './usage-error.ts'

const UNITS: { readonly [unit: string]: number } = { Ki: 1, Mi: 2, Gi: 3, Ti: 4 }
const SIZED = /^(.+):(\d{1,16})(Ki|Mi|Gi|Ti)?$/
/** btrfs needs 109 MiB for itself. */
const LEAST_BYTES = 128 * 1024 ** 2

/** Parses `PATH` or `PATH:SIZE`. */
export function readPool(text: string | undefined): PoolSource | undefined {
  if (text === undefined) return undefined
  const [, file, digits, unit = ''] = SIZED.exec(text) ?? []
  const path = file ?? text
  if (!isAbsolute(path)) throw unaccepted(text)
  if (digits === undefined) return { path, sizeBytes: undefined }
  const sizeBytes = Number(digits) * 1024 ** (UNITS[unit] ?? 0)
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < LEAST_BYTES) throw unaccepted(text)
  return { path, sizeBytes }
}

const unaccepted = (text: string): UsageError =>
  new UsageError(
    `--pool ${text}: accepted is the absolute path of a mounted btrfs file system, or FILE:SIZE with a size of at least 128Mi, such as /var/lib/holdfast.img:100Gi.`,
  )
