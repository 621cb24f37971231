// Resolves an import specifier to a file of the repository, a Node built-in, or a package from the registry.

import { isBuiltin } from 'node:module'
import { posix } from 'node:path'

export type ImportTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'builtin' | 'npm'; readonly name: string }

const WORKSPACE = /^@holdfast\/([^/]+)(?:\/(.+))?$/

/** Resolves an import: `@holdfast/core/node` is packages/core/src/node.ts, or node/index.ts if `node` is a folder. */
export function resolveImport(
  from: string,
  specifier: string,
  exists: (path: string) => boolean,
): ImportTarget {
  if (specifier.startsWith('.')) {
    return { kind: 'file', path: posix.join(posix.dirname(from), specifier) }
  }
  const [, name, part] = WORKSPACE.exec(specifier) ?? []
  if (name === undefined) return { kind: isBuiltin(specifier) ? 'builtin' : 'npm', name: specifier }
  const base = `packages/${name}/src/${part ?? 'index'}`
  const folder = `${base}/index.ts`
  return { kind: 'file', path: exists(folder) ? folder : `${base.replace(/\.ts$/, '')}.ts` }
}
