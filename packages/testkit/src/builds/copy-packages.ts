// Writes the packages of this tree or of a commit to another folder, to run them there. The sources are copied, their
// dependencies are linked to those of this tree. Node runs the sources, so such a copy is a complete build.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeTempFolder } from '../temp-folder.ts'

const OWN = '@holdfast'
const PACKAGES = ['packages', 'package.json']
const MAX_ARCHIVE_BYTES = 256 * 1024 ** 2

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

/** Copies the packages of a tree with all uncommitted changes. The copy ends with this process at the latest. */
export function copyPackages(root: string): PackagesCopy {
  const { path: folder, remove } = makeTempFolder('build')
  const filter = (source: string) => basename(source) !== 'node_modules'
  for (const each of PACKAGES) cpSync(join(root, each), join(folder, each), { recursive: true, filter })
  linkModules(root, folder)
  return { folder, remove }
}

/** Writes the packages of a commit. Their dependencies are those of the tree at `root`, not those of the commit. */
export function extractPackages(root: string, commit: string): PackagesCopy {
  const { path: folder, remove } = makeTempFolder('build')
  const archive = execFileSync('git', ['archive', '--format=tar', commit, ...PACKAGES], {
    cwd: root,
    maxBuffer: MAX_ARCHIVE_BYTES,
  })
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive })
  linkModules(root, folder)
  return { folder, remove }
}

function linkModules(root: string, folder: string): void {
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(join(to, OWN), { recursive: true })
  for (const name of readdirSync(from)) if (name !== OWN) symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(to, OWN, name))
}

/** Replaces a text in a file of a copy. */
export function applyEdit(folder: string, edit: Edit): void {
  const path = join(folder, edit.file)
  writeFileSync(path, editText(readFileSync(path, 'utf8'), edit))
}

/** Replaces a text that must occur exactly once, so that an error is thrown if the text was moved or changed. */
export function editText(before: string, { file, find, replace }: Edit): string {
  const found = before.split(find).length - 1
  if (found !== 1) throw new Error(`${file} contains this text ${found} times instead of once: ${find}`)
  return before.replace(find, () => replace)
}
