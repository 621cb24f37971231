// The builds that a test runs side by side: the base version, a commit of this history that `.ci/base-version` names, and
// the current tree. See docs/design/packages.md#two-builds

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { applyEdit, copyPackages, type Edit, extractPackages, type PackagesCopy } from './copy-packages.ts'
import { bundlesIn, ROOT, testedBuild } from './programs.ts'

const BASE_FILE = '.ci/base-version'

export interface Build extends PackagesCopy {
  /** Name of the build in reports, such as `base 1a2b3c4d`. */
  readonly name: string
}

/** The packages of the commit that `.ci/base-version` names. */
export function baseBuild(): Build {
  const commit = readBaseVersion(readFileSync(join(ROOT, BASE_FILE), 'utf8'))
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT })
  if (status !== 0)
    throw new Error(
      `Commit ${commit}, named by ${BASE_FILE}, is not in this clone. Fetch the history: git fetch --unshallow`,
    )
  return { name: `base ${commit.slice(0, 8)}`, ...bundledIfTested(extractPackages(ROOT, commit)) }
}

/** Reads a base version: one commit hash; lines that begin with # are comments. */
export function readBaseVersion(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const [commit = ''] = lines
  if (lines.length !== 1 || !/^[0-9a-f]{40}$/.test(commit))
    throw new Error(`${BASE_FILE} must contain one commit hash of 40 digits, and comments that begin with #.`)
  return commit
}

/** The current tree with uncommitted changes, changed by edits. Throws if the text of an edit is not in the tree once. */
export function editedBuild(name: string, edits: readonly Edit[]): Build {
  const copy = copyPackages(ROOT)
  try {
    for (const edit of edits) applyEdit(copy.folder, edit)
    return { name, ...bundledIfTested(copy) }
  } catch (error) {
    copy.remove()
    throw error
  }
}

/** If the tests run bundles, the programs of this build are bundled as well. Its sources stay, because they tell its features. */
function bundledIfTested<T extends PackagesCopy>(copy: T): T {
  if (testedBuild() === ROOT) return copy
  execFileSync(execPath, [join(ROOT, 'scripts/bundle-processes.ts'), copy.folder, bundlesIn(copy.folder)])
  return copy
}
