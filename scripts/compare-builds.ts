// Builds the current commit in two clones in different folders, with different umasks, and compares every file that ships.
// Ends with 1 if one differs. Takes minutes.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process, { stdout, umask } from 'node:process'
import { checksumLines } from './package/checksums.ts'

const ROOT = join(import.meta.dirname, '..')
const CLONES = [
  { path: 'one', umask: 0o022 },
  { path: 'another/folder', umask: 0o077 },
]

const folder = mkdtempSync(join(tmpdir(), 'holdfast-compared-'))
try {
  const [first = [], second = []] = CLONES.map((clone) => buildClone(join(folder, clone.path), clone.umask))
  const different = [
    ...first.filter((line) => !second.includes(line)),
    ...second.filter((line) => !first.includes(line)),
  ]
  stdout.write(`${first.join('\n')}\n${first.length} files compared, ${different.length} lines differ\n`)
  stdout.write(different.map((line) => `${line}\n`).join(''))
  process.exitCode = first.length > 0 && different.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Hash and name of every file that a clone built, SHA256SUMS included. */
function buildClone(path: string, mask: number): string[] {
  run('git', ['clone', '--quiet', ROOT, path])
  run('git', ['-C', path, 'checkout', '--quiet', '--detach', commit()])
  linkModules(path)
  const before = umask(mask)
  run('bash', [join(path, 'scripts/build')])
  umask(before)
  const packages = join(path, 'dist/packages')
  const lines = checksumLines(packages, readdirSync(packages)).trim().split('\n')
  // Artefacts of two clones need a gigabyte and a half.
  rmSync(path, { recursive: true, force: true })
  return lines
}

/** Hard links: a copy of the installed packages costs half a gigabyte. Kept builds would hide a difference. */
function linkModules(path: string): void {
  run('cp', ['-al', join(ROOT, 'node_modules'), path])
  rmSync(join(path, 'node_modules/.cache'), { recursive: true, force: true })
}

function commit(): string {
  return execFileSync('git', ['-C', ROOT, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
}

function run(command: string, words: readonly string[]): void {
  execFileSync(command, words, { stdio: 'inherit' })
}
