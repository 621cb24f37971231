// Checks that each file imports only modules that the import table allows. Tests may also import testkit, built-ins and
// any registry package; the table's rows for folders do not apply to tests, the rows for packages do. See
// docs/design/packages.md#import-rules

import {
  FOLDERS,
  type FolderRow,
  MAY_CONSTRUCT_ADAPTERS,
  ONLY_IN,
  PACKAGES,
  type PackageRow,
  PURE,
  SEPARATE,
} from './import-table.ts'
import { type ImportTarget, resolveImport } from './resolve-import.ts'
import { type ImportFound, scanSource } from './scan-source.ts'
import { isTest, locate, type SourceTree, type Violation } from './source-tree.ts'

export function checkBoundaries(tree: SourceTree): Violation[] {
  return [...tree].flatMap(([path, source]) => {
    const row = PACKAGES[locate(path).name]
    if (row === undefined)
      return [{ path, line: 1, what: 'belongs to a package that is missing in the import table' }]
    const { imports, code } = scanSource(source)
    const faults = imports.flatMap((found) => {
      const target = resolveImport(path, found.specifier, (file) => tree.has(file))
      const what = explainSpecifier(path, found.specifier, target) ?? explainImport(path, row, target)
      return what === undefined
        ? []
        : [{ path, line: found.line, what: `imports ${found.specifier}: ${what}` }]
    })
    return [...faults, ...(isTest(path) ? [] : checkPurity(path, code))]
  })
}

/** All imports between files of the tree, for the cycle check. */
export function importGraph(tree: SourceTree): Map<string, string[]> {
  const graph = new Map<string, string[]>()
  for (const [path, source] of tree) {
    const targets = scanSource(source).imports.map(({ specifier }: ImportFound) =>
      resolveImport(path, specifier, (file) => tree.has(file)),
    )
    graph.set(
      path,
      targets.flatMap((target) => (target.kind === 'file' && tree.has(target.path) ? [target.path] : [])),
    )
  }
  return graph
}

/**
 * Explains why an import path is forbidden: a relative path into another package hides that the import crosses packages.
 */
function explainSpecifier(path: string, specifier: string, target: ImportTarget): string | undefined {
  if (!specifier.startsWith('.') || target.kind !== 'file') return undefined
  const [from, to] = [locate(path).name, locate(target.path).name]
  if (from === to || !target.path.startsWith('packages/') || target.path.endsWith('.json')) return undefined
  return `import it by its package name, @holdfast/${to}`
}

/** Explains why the import is forbidden; undefined if it is allowed. */
function explainImport(path: string, row: PackageRow, target: ImportTarget): string | undefined {
  const test = isTest(path)
  const from = locate(path)
  if (target.kind === 'file') {
    if (!test && isTest(target.path)) return 'that file is only for tests'
    // A package may read its own package.json.
    if (target.path === `packages/${from.name}/package.json`) return undefined
    const to = locate(target.path)
    if (to.name === from.name) return test ? undefined : explainInside(from.name, from.inside, to.inside)
    return explainPackage(from, row, to, test)
  }
  if (test) return undefined
  if (target.kind === 'builtin' && !row.builtins) return `${from.name} may not use Node built-ins`
  if (target.kind === 'npm' && !row.npm) return `${from.name} may not use registry packages`
  const folder = folderRow(from.name, from.inside)
  const named = folder?.neverModules.find((name) => startsWithPart(target.name, name))
  return named === undefined ? undefined : `${from.name}/${folder?.folder} may not import ${named}`
}

type Place = ReturnType<typeof locate>

function explainPackage(from: Place, row: PackageRow, to: Place, test: boolean): string | undefined {
  if (test && ['testkit', 'simulation'].includes(to.name)) return undefined
  const folder = folderRow(from.name, from.inside)
  if (!test && folder?.neverOurs?.includes(to.name) === true)
    return `${from.name}/${folder.folder} may not import ${to.name}`
  const ours = [...row.ours, ...oursOfFolder(from)]
  if (ours.some((one) => startsWithPart(`${to.name}/${to.inside.replace(/\.ts$/, '')}`, one)))
    return undefined
  if (to.name === 'testkit') return 'testkit is for tests, scripts and benchmarks'
  return `${from.name} may import only these workspace packages: ${ours.join(', ') || 'none'}`
}

/** The packages that the folder of the file may import in addition to those of its package. */
const oursOfFolder = ({ name, inside }: Place): readonly string[] =>
  Object.entries(ONLY_IN[name] ?? {}).flatMap(([folder, ours]) =>
    startsWithPart(inside, folder) ? ours : [],
  )

function explainInside(name: string, from: string, to: string): string | undefined {
  const row = folderRow(name, from)
  const never = row?.never.find((part) => startsWithPart(to, part))
  if (never !== undefined) return `${name}/${row?.folder} may not import ${never}`
  const apart = SEPARATE[name]?.find((folder) => areApart(folder, from, to))
  if (apart !== undefined) return `the folders of ${name}/${apart} may not import each other`
  if (!startsWithPart(to, 'adapters')) return undefined
  if (MAY_CONSTRUCT_ADAPTERS.some((part) => startsWithPart(from, part))) return undefined
  return 'only compose.ts and main.ts construct adapters; accept a narrow port instead'
}

/** True if both paths are in the folder, but in different subfolders of it. */
function areApart(folder: string, from: string, to: string): boolean {
  const [left, right] = [from, to].map((path) =>
    startsWithPart(path, folder) ? path.slice(folder.length + 1).split('/')[0] : undefined,
  )
  return left !== undefined && right !== undefined && left !== right
}

function folderRow(name: string, inside: string): FolderRow | undefined {
  return FOLDERS[name]?.find(({ folder }) => startsWithPart(inside, folder))
}

/** True if the path starts with the part: `adapters/etcd/kv.ts` starts with `adapters`; `adapters-list.ts` does not. */
function startsWithPart(path: string, part: string): boolean {
  return path === part || path.startsWith(part.endsWith('/') ? part : `${part}/`)
}

function checkPurity(path: string, code: string): Violation[] {
  const { name } = locate(path)
  return (PURE[name] ?? []).flatMap((form) => {
    // A member or a key with the name of a global is not the global: `spec.process`, `{ process: 1 }`.
    const use = new RegExp(String.raw`(?<![.\w$])${form}(?![\w$]|\s*\??:)`, 'g')
    return [...code.matchAll(use)].map(({ 0: text, index }) => ({
      path,
      line: code.slice(0, index).split('\n').length,
      what: `uses ${text.trim()}: ${name} is pure and receives its inputs as data`,
    }))
  })
}
