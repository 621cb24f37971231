// The package.json with which a package of the workspace is published: compiled modules with their types instead of sources.

export interface SourceManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly sideEffects?: boolean
  readonly engines: { readonly [program: string]: string }
  readonly exports: { readonly [path: string]: string }
  readonly dependencies?: { readonly [name: string]: string }
}

/** The folder of the compiled modules in the published package. */
export const COMPILED = 'dist'

/** Each export names the compiled module and its types. `private` is left out: npm refuses to publish private packages. */
export function publishedManifest(source: SourceManifest): object {
  const { name, version, description, license, type, sideEffects, engines, dependencies } = source
  const exports = Object.entries(source.exports).map(([path, file]) => [path, compiledExport(file)] as const)
  return {
    name,
    version,
    description,
    license,
    type,
    ...(sideEffects === undefined ? {} : { sideEffects }),
    engines,
    files: [COMPILED],
    exports: Object.fromEntries(exports),
    ...(dependencies === undefined ? {} : { dependencies }),
  }
}

function compiledExport(file: string): object {
  const [, path] = /^\.\/src\/(.+)\.ts$/.exec(file) ?? []
  if (path === undefined) throw new Error(`${file} is no source in src`)
  const module = `./${COMPILED}/${path}`
  return { types: `${module}.d.ts`, default: `${module}.js` }
}
