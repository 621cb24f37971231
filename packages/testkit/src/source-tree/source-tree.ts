// The files of a tree as data: path from the repository's root to source text. The checks never touch a disk, so that a
// planted violation is a map with two entries.

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export type SourceTree = ReadonlyMap<string, string>

export interface Violation {
  readonly path: string
  readonly line: number
  readonly what: string
}

export const showViolation = ({ path, line, what }: Violation): string => `${path}:${line} ${what}`

/** Every TypeScript source under packages/<name>/src; declarations and generated files left out. */
export function gatherSources(root: string): SourceTree {
  const tree = new Map<string, string>()
  for (const name of readdirSync(join(root, 'packages'))) {
    const folder = posix.join('packages', name, 'src')
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(file) || file.endsWith('.d.ts')) continue
      const text = readFileSync(join(root, folder, file), 'utf8')
      if (!/^\/[/*] @generated/m.test(text)) tree.set(posix.join(folder, file), text)
    }
  }
  return tree
}

/** Tests and what only they use: `x.test.ts`, `x.fixture.ts`, testkit, and suites that several implementations share. */
export const isTest = (path: string): boolean =>
  /\.test\.tsx?$|[./]fixture\.ts$|[/-]conformance(?:\.ts$|\/)|^packages\/testkit\//.test(path)

/** `packages/server/src/api/reply.ts` is `{ name: 'server', inside: 'api/reply.ts' }`. */
export function locate(path: string): { readonly name: string; readonly inside: string } {
  const found = /^packages\/([^/]+)\/src\/(.*)$/.exec(path)
  return { name: found?.[1] ?? '', inside: found?.[2] ?? path }
}
