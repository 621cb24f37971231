// Draws lines of an area by a seed, and one mutation of each. A mutant that cannot run or changes nothing at run time is drawn
// again.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { transformSync } from 'esbuild'
import { type Mutation, mutationsOf } from './mutate-line.ts'

export interface Area {
  readonly name: string
  readonly files: RegExp
}

export interface Mutant extends Mutation {
  readonly path: string
  /** Counted from 1. */
  readonly at: number
  readonly before: string
}

export const AREAS: readonly Area[] = [
  { name: 'core', files: /^packages\/core\/src\/.*\.ts$/ },
  { name: 'routes', files: /^packages\/server\/src\/api\/routes\/.*\.ts$/ },
  { name: 'controllers', files: /^packages\/server\/src\/loops\/.*\.ts$/ },
  { name: 'agent', files: /^packages\/agent\/src\/.*\.ts$/ },
  { name: 'dashboard', files: /^packages\/dashboard\/src\/.*\.tsx?$/ },
  {
    name: 'packaging',
    files: /^(?:packages|engines)\/[^/]+\/[^/]+\.(?:service|conf)$|^scripts\/(?:package\/|build)/,
  },
]
/** Tests and their support, also the walks that install packages. */
const TESTS =
  /\.test\.tsx?$|[./]fixture\.ts$|\/fixtures?\/|conformance|^scripts\/package\/(?:try-|\w*-?steps\.sh|debian-machine\.sh|registry\.sh)/

/** A small generator of numbers below 1 (mulberry32), so that a seed always draws the same lines. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws mutants of an area; each line that can be mutated is as likely as any other. */
export function* drawMutants(
  root: string,
  files: readonly string[],
  area: Area,
  seed: number,
): Generator<Mutant> {
  const random = randomOf(seed)
  const candidates = files
    .filter((path) => area.files.test(path) && !TESTS.test(path))
    .toSorted()
    .flatMap((path) =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .map((before, index) => ({ path, before, at: index + 1, mutations: mutationsOf(path, before) })),
    )
    .filter(({ mutations }) => mutations.length > 0)
  while (candidates.length > 0) {
    const [line] = candidates.splice(Math.floor(random() * candidates.length), 1)
    const mutation = line?.mutations[Math.floor(random() * line.mutations.length)]
    if (line === undefined || mutation === undefined) return
    const { path, at, before } = line
    const mutant = { path, at, before, ...mutation }
    if (canMatter(root, mutant)) yield mutant
  }
}

/** The text of the file with the mutation. */
export function mutate(text: string, { at, line }: Pick<Mutant, 'at' | 'line'>): string {
  return text
    .split('\n')
    .with(at - 1, line)
    .join('\n')
}

export function writeMutant(root: string, mutant: Mutant): void {
  const file = join(root, mutant.path)
  writeFileSync(file, mutate(readFileSync(file, 'utf8'), mutant))
}

function canMatter(root: string, mutant: Mutant): boolean {
  const before = readFileSync(join(root, mutant.path), 'utf8')
  const after = mutate(before, mutant)
  const extension = extname(mutant.path)
  if (extension === '.ts' || extension === '.tsx') {
    const loader = extension === '.ts' ? 'ts' : 'tsx'
    const compile = (text: string): string =>
      transformSync(text, { loader, minifyWhitespace: true, minifySyntax: true, logLevel: 'silent' }).code
    try {
      return compile(before) !== compile(after)
    } catch {
      return false
    }
  }
  return extension === '.service' || extension === '.conf' || isShell(after)
}

function isShell(text: string): boolean {
  try {
    execFileSync('bash', ['-n'], { input: text, stdio: ['pipe', 'ignore', 'ignore'] })
    return true
  } catch {
    return false
  }
}
