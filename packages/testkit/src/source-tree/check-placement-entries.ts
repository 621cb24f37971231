// Checks which files import the placement decision of core. Outside of core, only the controllers that call planPlacement
// may import the code that picks nodes, filters them and finds remedies; readers use explainPlacement. See
// docs/design/packages.md#import-rules

import { resolveImport } from './resolve-import.ts'
import { scanSource } from './scan-source.ts'
import { isTest, type SourceTree, type Violation } from './source-tree.ts'

const CORE = 'packages/core/src/'

/** Folders of the core package that make placement decisions. */
const DECIDING = ['placement/', 'rollout/', 'scheduling/']

/** Entry points of core into placement decisions, and the folders outside core that may import each entry point. */
const ENTRY_POINTS: { readonly [entry: string]: readonly string[] } = {
  'placement/index.ts': [
    'packages/server/src/loops/controllers/jobs/',
    'packages/server/src/loops/controllers/placement/',
    'packages/server/src/loops/controllers/planning/',
  ],
  'placement/explain-placement.ts': [
    'packages/server/src/operations/deployments/',
    'packages/server/src/operations/jobs/',
  ],
}

/**
 * Files that core's main entry point may re-export. Every package may import it, so these files must not decide
 * placement.
 */
const PASSED_ON = [
  'rollout/dependency-gate.ts',
  'rollout/derive-status.ts',
  'rollout/desired-replicas.ts',
  'scheduling/avoid-nodes.ts',
  'scheduling/explain.ts',
  'scheduling/facts.ts',
  'scheduling/refusal.ts',
  'scheduling/residency.ts',
]

/** Functions that decide placement and that core's main entry point must not re-export. */
const DECIDING_NAMES = /\b(?:explainCandidates|unmetDependencies|hasValidReports|answersResidency)\b/

export function checkPlacementEntries(tree: SourceTree): Violation[] {
  return [...tree].flatMap(([path, source]) => {
    if (path === `${CORE}index.ts`) return checkMainEntry(tree, path, source)
    if (!path.startsWith('packages/') || path.startsWith(CORE) || isTest(path)) return []
    return importsOfCore(tree, path, source).flatMap(({ target, line, specifier }) => {
      const isAllowed = ENTRY_POINTS[target]?.some((folder) => path.startsWith(folder)) === true
      return isDeciding(target) && !isAllowed
        ? [
            {
              path,
              line,
              what: `imports ${specifier}: only the caller of planPlacement may decide placements`,
            },
          ]
        : []
    })
  })
}

function checkMainEntry(tree: SourceTree, path: string, source: string): Violation[] {
  const imported = importsOfCore(tree, path, source).flatMap(({ target, line, specifier }) =>
    isDeciding(target) && !PASSED_ON.includes(target)
      ? [{ path, line, what: `re-exports ${specifier}, which decides placements` }]
      : [],
  )
  const [name] = DECIDING_NAMES.exec(scanSource(source).code) ?? []
  return name === undefined ? imported : [...imported, { path, line: 1, what: `re-exports ${name}` }]
}

const isDeciding = (target: string): boolean => DECIDING.some((folder) => target.startsWith(folder))

function importsOfCore(tree: SourceTree, path: string, source: string) {
  return scanSource(source).imports.flatMap(({ specifier, line }) => {
    const target = resolveImport(path, specifier, (file) => tree.has(file))
    if (target.kind !== 'file' || !target.path.startsWith(CORE)) return []
    return [{ target: target.path.slice(CORE.length), line, specifier }]
  })
}
