// The modules of the tests and what is known of their names, functions and object literals while clock-values.ts follows
// the clock through them.

import { resolveImport } from './resolve-import.ts'
import { isTest, type SourceTree } from './source-tree.ts'
import {
  child,
  children,
  type Declared,
  isFunction,
  nameOf,
  namesIn,
  parseSource,
  type SyntaxNode,
  type SyntaxTree,
} from './syntax-tree.ts'

export const CLOCK = 'clock'
/** A function that reads the clock, passed on uncalled: `{ now: Date.now }`. */
export const CLOCK_FUNCTION = 'clock function'

/**
 * What a value derives from: the clock; a parameter, which a caller may derive from the clock; or an object literal, whose
 * properties may.
 */
export type Origin = SyntaxNode | typeof CLOCK | typeof CLOCK_FUNCTION
export type Origins = ReadonlySet<Origin>
export const NONE: Origins = new Set()

export interface ModuleFacts {
  readonly path: string
  readonly tree: SyntaxTree
  /** The values that each function returns. */
  readonly returns: ReadonlyMap<SyntaxNode, readonly SyntaxNode[]>
  /** Imported files by specifier. */
  readonly imports: ReadonlyMap<string, string>
}

/** A declaration or a function, and the module that it is in. */
export interface Located<T> {
  readonly facts: ModuleFacts
  readonly found: T
}

export interface ClockWorld {
  /** Whether the file is a test or test support that can hold a value of the clock. */
  isTimed(path: string): boolean
  require(path: string): ModuleFacts
  /** Follows an imported name to its declaration in test support; undefined for names of the product and of packages. */
  exporterOf(facts: ModuleFacts, declared: Declared): Located<Declared> | undefined
  nameOrigins(declared: Declared): Set<Origin>
  resultOf(fn: SyntaxNode): Set<Origin>
  fieldOf(site: SyntaxNode, key: string): Set<Origin>
  fieldsOf(origins: Origins): readonly (readonly [string, Origins])[]
  /** The object literals among the origins. */
  sitesOf(origins: Origins): ReadonlySet<SyntaxNode>
  moduleOf(site: SyntaxNode): ModuleFacts | undefined
}

export function createWorld(
  sources: SourceTree,
  settle: (facts: ModuleFacts, world: ClockWorld) => void,
): ClockWorld {
  const modules = new Map<string, ModuleFacts>()
  const [names, results] = [new Map<Declared, Set<Origin>>(), new Map<SyntaxNode, Set<Origin>>()]
  const fields = new Map<SyntaxNode, Map<string, Set<Origin>>>()
  const owners = new Map<SyntaxNode, ModuleFacts>()
  const exporters = new Map<Declared, Located<Declared> | undefined>()
  const [timed, passing] = [new Map<string, boolean>(), new Map<string, boolean>()]
  const isTimed = (path: string): boolean =>
    lazily(timed, path, () => {
      const source = isTest(path) ? sources.get(path) : undefined
      return source !== undefined && (NAMES_A_CLOCK.test(source) || importsOf(path, sources).some(passesOn))
    })
  /** Whether importers of the file can receive a value of the clock from it. */
  const passesOn = (path: string): boolean =>
    lazily(passing, path, () => {
      const facts = isTimed(path) ? load(path) : undefined
      return facts?.tree.nodes.some((node) => holdsClock(node, facts)) === true
    })
  const holdsClock = (node: SyntaxNode, facts: ModuleFacts): boolean => {
    if (node.type.startsWith('Export')) {
      const source = child(node, 'source')?.['value']
      return typeof source === 'string' && passesOn(facts.imports.get(source) ?? '')
    }
    if (isFunction(node)) return hasClock(world.resultOf(node))
    if (node.type === 'ObjectExpression')
      return world.fieldsOf(new Set([node])).some(([, one]) => hasClock(one))
    const declared = node.type === 'VariableDeclarator' ? facts.tree.declaredBy(node) : []
    return declared.some((one) => hasClock(world.nameOrigins(one)))
  }
  const load = (path: string): ModuleFacts | undefined => {
    const source = isTest(path) ? sources.get(path) : undefined
    if (source === undefined) return undefined
    const known = modules.get(path)
    if (known !== undefined) return known
    const facts = readModule(path, source, sources)
    modules.set(path, facts)
    for (const node of facts.tree.nodes) if (node.type === 'ObjectExpression') owners.set(node, facts)
    settle(facts, world)
    return facts
  }
  const world: ClockWorld = {
    isTimed,
    require(path) {
      const facts = load(path)
      if (facts === undefined) throw new Error(`${path} is no test and no test support`)
      return facts
    },
    exporterOf(facts, declared) {
      if (declared.by.type !== 'ImportSpecifier') return undefined
      if (!exporters.has(declared)) exporters.set(declared, findExporter(facts, declared, load))
      return exporters.get(declared)
    },
    nameOrigins: (declared) => entry(names, declared, newOrigins),
    resultOf: (fn) => entry(results, fn, newOrigins),
    fieldOf: (site, key) => entry(entry(fields, site, newFields), key, newOrigins),
    fieldsOf: (origins) =>
      [...origins].flatMap((one) => (typeof one === 'string' ? [] : [...(fields.get(one) ?? [])])),
    sitesOf: (origins) => {
      const sites = [...origins].filter((one) => typeof one !== 'string')
      return new Set(sites.filter(({ type }) => type === 'ObjectExpression'))
    },
    moduleOf: (site) => owners.get(site),
  }
  return world
}

/** The test support that each file imports, found without a syntax tree. */
function importsOf(path: string, sources: SourceTree): readonly string[] {
  const found = [...(sources.get(path) ?? '').matchAll(/(?:from|import) '([^'\n]+)'/g)]
  return found.flatMap(([, specifier = '']) => {
    const target = resolveImport(path, specifier, (file) => sources.has(file))
    return target.kind === 'file' && isTest(target.path) ? [target.path] : []
  })
}

const NAMES_A_CLOCK = /\bperformance\.now\b|\bhrtime\b|\bDate\.now\b|\bnew Date\(\)/

/** The known answer; a question about itself, as in an import cycle, is answered with no. */
function lazily(known: Map<string, boolean>, path: string, decide: () => boolean): boolean {
  const answer = known.get(path)
  if (answer !== undefined) return answer
  known.set(path, false)
  const decided = decide()
  known.set(path, decided)
  return decided
}

const hasClock = (origins: Origins): boolean => origins.has(CLOCK) || origins.has(CLOCK_FUNCTION)

const newOrigins = (): Set<Origin> => new Set()
const newFields = (): Map<string, Set<Origin>> => new Map()

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

export function union(all: readonly Origins[]): Origins {
  const filled = all.filter(({ size }) => size > 0)
  const [first = NONE] = filled
  return filled.length <= 1 ? first : new Set(filled.flatMap((one) => [...one]))
}

function readModule(path: string, source: string, sources: SourceTree): ModuleFacts {
  const tree = parseSource(path, source)
  const imports = new Map<string, string>()
  const returns = new Map<SyntaxNode, SyntaxNode[]>()
  for (const node of tree.nodes) {
    const specifier = child(node, 'source')?.['value']
    if (typeof specifier === 'string') {
      const target = resolveImport(path, specifier, (file) => sources.has(file))
      if (target.kind === 'file') imports.set(specifier, target.path)
    }
    if (isFunction(node)) {
      const body = child(node, 'body')
      returns.set(node, body === undefined || body.type === 'BlockStatement' ? [] : [body])
    }
  }
  for (const node of tree.nodes) {
    const value = child(node, 'argument')
    if (!['ReturnStatement', 'YieldExpression'].includes(node.type) || value === undefined) continue
    let at = tree.parentOf(node)
    while (at !== undefined && !isFunction(at)) at = tree.parentOf(at)
    if (at !== undefined) returns.get(at)?.push(value)
  }
  return { path, tree, returns, imports }
}

type Load = (path: string) => ModuleFacts | undefined

function findExporter(facts: ModuleFacts, { by }: Declared, load: Load): Located<Declared> | undefined {
  const declaration = facts.tree.parentOf(by)
  const source = declaration === undefined ? undefined : child(declaration, 'source')?.['value']
  const path = typeof source === 'string' ? facts.imports.get(source) : undefined
  const exporter = path === undefined ? undefined : load(path)
  const name = nameOf(child(by, 'imported'))
  return exporter === undefined || name === undefined ? undefined : findExport(exporter, name, load)
}

function findExport(facts: ModuleFacts, name: string, load: Load): Located<Declared> | undefined {
  for (const node of children(facts.tree.root, 'body')) {
    if (!node.type.startsWith('Export')) continue
    const source = child(node, 'source')?.['value']
    const from = typeof source === 'string' ? load(facts.imports.get(source) ?? '') : undefined
    const specifier = children(node, 'specifiers').find((one) => nameOf(child(one, 'exported')) === name)
    const local = specifier === undefined ? undefined : child(specifier, 'local')
    if (local !== undefined) {
      const declared = facts.tree.resolve(local)
      if (from !== undefined) return findExport(from, nameOf(local) ?? '', load)
      return declared === undefined ? undefined : { facts, found: declared }
    }
    const passedOn =
      from !== undefined && node.type === 'ExportAllDeclaration' ? findExport(from, name, load) : undefined
    if (passedOn !== undefined) return passedOn
    const declaration = child(node, 'declaration')
    if (declaration === undefined) continue
    const ids = [declaration, ...children(declaration, 'declarations')].map((one) => child(one, 'id'))
    const id = ids.find((one) => namesIn(one).includes(name))
    const declared = id === undefined ? undefined : facts.tree.resolveName(id, name)
    if (declared !== undefined) return { facts, found: declared }
  }
  return undefined
}
