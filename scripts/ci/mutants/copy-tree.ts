// A throw-away copy of the last commit, in which tests run: whatever happens to it, this tree stays as it is.

import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'

export interface TreeCopy {
  readonly root: string
  /** Undoes every change of the copy. */
  restore(): void
  remove(): void
}

export function copyTree(root: string): TreeCopy {
  const { path, remove } = makeTempFolder('mutants')
  const copy = join(path, 'tree')
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  git(root, 'clone', '--quiet', '--shared', root, copy)
  linkModules(root, copy)
  return {
    root: copy,
    restore() {
      git(copy, 'checkout', '--quiet', '--', '.')
      git(copy, 'clean', '--quiet', '-d', '--force')
    },
    remove,
  }
}

/** Dependencies as hard links: symbolic links would lead out of the copy. Without caches, which belong to the other tree. */
function linkModules(root: string, copy: string): void {
  const modules = join(copy, 'node_modules')
  execFileSync('cp', ['--archive', '--link', join(root, 'node_modules'), modules])
  for (const name of readdirSync(modules))
    if (/^\.(?:cache|vite)/.test(name)) rmSync(join(modules, name), { recursive: true, force: true })
}
