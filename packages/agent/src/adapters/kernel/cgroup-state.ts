// Freezes and thaws one cgroup, of v1 (its freezer) or v2. The fencer uses it too, so it imports no other package.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const isUnified = (path: string): boolean => existsSync(join(path, 'cgroup.freeze'))

/** A cgroup that is gone has no processes to freeze. */
export function setFrozen(path: string, frozen: boolean): void {
  if (!existsSync(path)) return
  if (isUnified(path)) writeFileSync(join(path, 'cgroup.freeze'), frozen ? '1' : '0')
  else writeFileSync(join(path, 'freezer.state'), frozen ? 'FROZEN' : 'THAWED')
}

export function isFrozen(path: string): boolean {
  if (!existsSync(path)) return true
  if (!isUnified(path)) return readFileSync(join(path, 'freezer.state'), 'utf8').trim() === 'FROZEN'
  return /^frozen 1$/m.test(readFileSync(join(path, 'cgroup.events'), 'utf8'))
}
