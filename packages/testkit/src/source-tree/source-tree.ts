// The files of a source tree as data: a map from path to source text. The checks never read the disk, so that a test of a
// check can pass a map of two files with a violation.

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export type SourceTree = ReadonlyMap<string, string>

export interface Violation {
  readonly path: string
  readonly line: number
  readonly what: string
}

export const showViolation = ({ path, line, what }: Violation): string => `${path}:${line} ${what}`

const OUTSIDE_PACKAGES = ['tests', 'e2e', 'bench', 'scripts']

/**
 * Reads every TypeScript source of the packages, tests, benchmarks and scripts, without declarations and generated files.
 */
export function gatherSources(root: string): SourceTree {
  const packages = readdirSync(join(root, 'packages')).map((name) => posix.join('packages', name, 'src'))
  return new Map([...packages, ...OUTSIDE_PACKAGES].flatMap((folder) => sourcesIn(root, folder)))
}

function sourcesIn(root: string, folder: string): [string, string][] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !file.includes('node_modules'))
    .map((file): [string, string] => [
      posix.join(folder, file),
      readFileSync(join(root, folder, file), 'utf8'),
    ])
    .filter(([, text]) => !/^\/[/*] @generated/m.test(text))
}

export const isInPackage = (path: string): boolean => path.startsWith('packages/')

/**
 * True for tests and their support: `x.test.ts`, `x.fixture.ts`, testkit, shared suites, and everything outside of the
 * packages.
 */
export const isTest = (path: string): boolean =>
  /\.test\.tsx?$|[./]fixture\.ts$|[/-]conformance(?:\.ts$|\/)|^packages\/testkit\/|^(?:tests|e2e|bench|scripts)\//.test(
    path,
  )

/**
 * Splits a path into package and path inside: `packages/server/src/api/reply.ts` is `{ name: 'server', inside:
 * 'api/reply.ts' }`, `bench/x.ts` is `{ name: 'bench', inside: 'x.ts' }`.
 */
export function locate(path: string): { readonly name: string; readonly inside: string } {
  const [, name = '', inside = path] =
    /^packages\/([^/]+)\/src\/(.*)$/.exec(path) ?? /^(tests|e2e|bench|scripts)\/(.*)$/.exec(path) ?? []
  return { name, inside }
}
