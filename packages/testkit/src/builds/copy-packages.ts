// Copies the packages, to change the copy and run it: the sources are copied, their dependencies are linked.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const OWN = '@holdfast'

/** A replacement of a text in a source file of a copy. */
export interface Edit {
  readonly file: string
  /** The text to replace in the source file. It must occur exactly once, otherwise the edit fails. */
  readonly find: string
  readonly replace: string
}

export interface PackagesCopy {
  readonly folder: string
  remove(): void
}

export function copyPackages(root: string): PackagesCopy {
  const folder = mkdtempSync(join(tmpdir(), 'seeded-bug-'))
  cpSync(join(root, 'packages'), join(folder, 'packages'), {
    recursive: true,
    filter: (source) => basename(source) !== 'node_modules',
  })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  linkModules(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'node_modules', OWN))
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules', OWN, name))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function linkModules(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) if (name !== OWN) symlinkSync(join(from, name), join(to, name))
}

/** Replaces a text that must occur exactly once, so that an error is thrown if the guard was moved or changed. */
export function applyEdit(folder: string, { file, find, replace }: Edit): void {
  const path = join(folder, file)
  const before = readFileSync(path, 'utf8')
  const found = before.split(find).length - 1
  if (found !== 1) throw new Error(`${file} contains this text ${found} times instead of once: ${find}`)
  writeFileSync(
    path,
    before.replace(find, () => replace),
  )
}
