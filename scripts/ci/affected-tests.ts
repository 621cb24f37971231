// Finds the tests that a change can affect, nearest first, in a repository given as data. Used by affected.ts, which prints
// them, and by scripts/affected.ts, which runs them.

import { posix } from 'node:path'
import { resolveImport } from '@holdfast/testkit/source-tree/resolve-import'
import { isTest, type SourceTree } from '@holdfast/testkit/source-tree/source-tree'
import { rankByWords } from './rank-by-words.ts'
import { SUITES } from './suite-table.ts'

export interface Repository {
  readonly sources: SourceTree
  /** Every file, also those that are no sources. */
  readonly files: readonly string[]
}

/**
 * What a test tells about the change, and what it costs. Near: needs no engine and uses the change within a few imports.
 * Engines: starts etcd, Docker or a browser. Far: needs no engine, uses the change in many steps or checks a rule of the whole
 * repository. Labs: whole platforms with machines, and thousands of seeds.
 */
export const TIERS = ['near', 'engines', 'far', 'labs'] as const
export type Tier = (typeof TIERS)[number]

export interface Affected {
  readonly path: string
  readonly tier: Tier
  /** How many imports lie between the test and the change; Infinity if it only has the same subject. */
  readonly steps: number
}

/** Files that every test depends on: a change to one of these files can affect any test. */
const EVERYTHING =
  /^(?:package(?:-lock)?\.json|tsconfig.*\.json|vitest\.config\.ts|scripts\/bootstrap|\.ci\/(?:run|steps\.sh)|tests\/no-warnings\.ts)$/
const LABS =
  /^e2e\/|^tests\/real\/dashboard\/tasks-on-machines\.|^packages\/simulation\/src\/(?:seeds|effects|promotion)\//
const ENGINES = /\.real\.test\.ts$|^tests\/real\//

/** These read files of every kind, so each of them can notice every change. */
const RULES = 'tests/unit/'
/** A test that needs more steps than these to reach the change says little about it. */
const FAR = 4
/** A test of an engine or lab within this distance uses the changed file itself, not only a product that contains it. */
const NEAR = 2
/** How many farther tests of engines and labs are taken: those whose subject is closest to the change. */
const MOST_BY_SUBJECT = { engines: 12, labs: 3 }
/** An index passes on everything in its folder, so a path through it says little. */
const STEPS_THROUGH_INDEX = 3

const SERVER = 'packages/server/'
/** After a change of the server, the tests of controllers come after the tests within this distance. */
const CONTROLLERS_AT = 3

const isTestFile = (path: string): boolean => path.endsWith('.test.ts')

function kindOf(path: string): Exclude<Tier, 'far'> {
  if (LABS.test(path)) return 'labs'
  if (ENGINES.test(path)) return 'engines'
  return 'near'
}

/** The tests that a change can affect, by tier and then nearest first; with `all`, also those of other subjects. */
export function affectedTests(
  repository: Repository,
  changed: readonly string[],
  { all = false } = {},
): Affected[] {
  const tests = [...repository.sources.keys()].filter(isTestFile)
  const steps = stepsFrom(usersByFile(repository), changed)
  const everything = changed.some((path) => EVERYTHING.test(path))
  const byTable = (path: string): boolean =>
    SUITES.some((row) => row.tests.test(path) && changed.some((each) => row.changed.test(each)))
  const reached = tests.filter(
    (path) => everything || steps.has(path) || path.startsWith(RULES) || byTable(path),
  )
  const ranks = new Map(rankByWords(repository.sources, reached, changed).map((path, rank) => [path, rank]))
  const sorted = reached
    .map((path) => {
      const distance = steps.get(path) ?? (byTable(path) ? NEAR : Number.POSITIVE_INFINITY)
      const far = farness(path, distance, changed)
      const kind = kindOf(path)
      const tier: Tier = kind === 'near' && far > FAR ? 'far' : kind
      return { path, tier, steps: distance, far }
    })
    .toSorted((a, b) => a.far - b.far || (ranks.get(a.path) ?? 0) - (ranks.get(b.path) ?? 0))
    .map(({ path, tier, steps }): Affected => ({ path, tier, steps }))
  return TIERS.flatMap((tier) => {
    const ofTier = sorted.filter((test) => test.tier === tier)
    return all ? ofTier : ofSubject(tier, ofTier)
  })
}

/** Imports say how near a test is, unless it starts a product: then it is near if it is in the same folder. */
function farness(path: string, steps: number, changed: readonly string[]): number {
  // The tests of controllers reach them in many steps.
  if (path.startsWith('tests/controllers/') && changed.some((each) => each.startsWith(SERVER)))
    return Math.min(steps, CONTROLLERS_AT)
  if (kindOf(path) === 'near' || steps <= 1) return steps
  const folder = posix.dirname(path)
  return changed.some((each) => posix.dirname(each) === folder) ? NEAR : NEAR + 1
}

function ofSubject(tier: Tier, sorted: readonly Affected[]): Affected[] {
  if (tier === 'near' || tier === 'far') return [...sorted]
  const isNear = ({ steps }: Affected): boolean => steps === 0 || (steps <= NEAR && tier === 'engines')
  const others = sorted.filter((test) => !isNear(test))
  const most = Math.max(0, MOST_BY_SUBJECT[tier] - (sorted.length - others.length))
  const chosen = new Set(others.slice(0, most))
  return sorted.filter((test) => isNear(test) || chosen.has(test))
}

function stepsFrom(
  users: ReadonlyMap<string, readonly string[]>,
  changed: readonly string[],
): Map<string, number> {
  const steps = new Map(changed.map((path) => [path, 0]))
  // Shortest paths first: each distance has a queue of its own.
  const queues: string[][] = [[...changed]]
  for (let distance = 0; distance < queues.length; distance += 1)
    for (const path of queues[distance] ?? []) {
      if (steps.get(path) !== distance) continue
      const next = distance + (posix.basename(path) === 'index.ts' ? STEPS_THROUGH_INDEX : 1)
      for (const user of users.get(path) ?? []) {
        if ((steps.get(user) ?? Number.POSITIVE_INFINITY) <= next) continue
        steps.set(user, next)
        while (queues.length <= next) queues.push([])
        queues[next]?.push(user)
      }
    }
  return steps
}

/** `import type` and `export type ... from`, which leave nothing at run time. */
const TYPES_ONLY =
  /\b(?:import|export)\s+type\s+(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+['"][^'"\n]+['"]/g
const IMPORTED = /\b(?:from|import)\s*\(?\s*['"`]([^'"`\n]+)['"`]/g
const QUOTED = /['"`]([\w@./-]*[./][\w@./-]+)['"`]/g

/** For each file, the sources that import it or name it. */
function usersByFile({ sources, files }: Repository): Map<string, string[]> {
  const known = new Set([...files, ...sources.keys()])
  const byName = Map.groupBy(files, (path) => posix.basename(path))
  const users = new Map<string, string[]>()
  for (const [path, text] of sources) {
    const source = text.replace(TYPES_ONLY, '')
    const used = new Set([...importsIn(sources, path, source), ...namedFiles(known, byName, path, source)])
    for (const each of used) users.set(each, [...(users.get(each) ?? []), path])
  }
  return users
}

// A pattern finds a few imports too many, in texts, which is harmless here, and takes a hundredth of the scanner's time.
const importsIn = (sources: SourceTree, path: string, source: string): string[] =>
  [...source.matchAll(IMPORTED)].flatMap(([, specifier = '']) => {
    const target = resolveImport(path, specifier, (file) => sources.has(file))
    return target.kind === 'file' ? [target.path] : []
  })

/**
 * Files that a source names in a string: by a relative path, by a path below a root (`'../../packages/cli/src/main.ts'`), or,
 * in a test of an asset, by a name that no other file has (`'holdfast-agent.service'`).
 */
function namedFiles(
  known: ReadonlySet<string>,
  byName: ReadonlyMap<string, readonly string[]>,
  path: string,
  source: string,
): string[] {
  return [...source.matchAll(QUOTED)].flatMap(([, name = '']) => {
    const candidates = [posix.join(posix.dirname(path), name), name.replace(/^(?:\.\.?\/)+/, '')]
    const found = candidates.filter((candidate) => known.has(candidate))
    const [only, ...others] = byName.get(posix.basename(name)) ?? []
    const isAsset = isTest(path) && only !== undefined && others.length === 0 && !/\.tsx?$/.test(only)
    return found.length === 0 && isAsset ? [only] : found
  })
}
