// Finds the tests that a change can affect, in a source tree given as data. Used by affected.ts.

import { posix } from 'node:path'
import { importGraph } from '@holdfast/testkit/source-tree/check-boundaries'
import type { SourceTree } from '@holdfast/testkit/source-tree/source-tree'

/** Files that every test depends on: a change to one of these files can affect any test. */
const EVERYTHING =
  /^(?:package(?:-lock)?\.json|packages\/[^/]+\/package\.json|tsconfig.*\.json|vitest\.config\.ts|engines\/.*|scripts\/bootstrap|\.ci\/.*|tests\/no-warnings\.ts)$/
const QUOTED = /['"`]([\w./-]+\.ts)['"`]/g

const isTestFile = (path: string): boolean => path.endsWith('.test.ts')

export function affectedTests(tree: SourceTree, changed: readonly string[]): string[] {
  const tests = [...tree.keys()].filter(isTestFile)
  if (changed.some((path) => EVERYTHING.test(path))) return tests
  const reached = dependentsOf(usersByFile(tree), changed)
  // Tests in tests/unit are always affected, because they read files of every kind: documents, golden files, sources.
  return tests.filter((path) => reached.has(path) || path.startsWith('tests/unit/'))
}

function dependentsOf(
  users: ReadonlyMap<string, readonly string[]>,
  changed: readonly string[],
): Set<string> {
  const reached = new Set(changed)
  for (const path of reached) for (const user of users.get(path) ?? []) reached.add(user)
  return reached
}

function usersByFile(tree: SourceTree): Map<string, string[]> {
  const users = new Map<string, string[]>()
  const imports = importGraph(tree)
  for (const [path, source] of tree)
    for (const used of [...(imports.get(path) ?? []), ...namedFiles(tree, path, source)])
      users.set(used, [...(users.get(used) ?? []), path])
  return users
}

/**
 * Files that a source names in a string, by a relative path or by a path below a root:
 * `'../../packages/cli/src/main.ts'`.
 */
function namedFiles(tree: SourceTree, path: string, source: string): string[] {
  return [...source.matchAll(QUOTED)].flatMap(([, name = '']) => {
    const candidates = [posix.join(posix.dirname(path), name), name.replace(/^(?:\.\.?\/)+/, '')]
    return candidates.filter((candidate) => tree.has(candidate))
  })
}
