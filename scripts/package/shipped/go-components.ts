// Which Go modules ship inside an engine: the list that the compiler wrote into the binary, read from `go version -m`.

export interface GoModule {
  readonly path: string
  readonly version: string
  /** Hash of the module; absent for the standard library. */
  readonly h1: string | undefined
}

const STANDARD_LIBRARY = 'stdlib'

/** Modules of a binary with the standard library. A replaced module is listed as what replaced it. */
export function readGoModules(output: string): GoModule[] {
  const lines = output.split('\n').map((line) => line.trim().split(/\s+/))
  const [, goVersion] = /: go(\S+)/.exec(output) ?? []
  if (goVersion === undefined) throw new Error(`no Go version in: ${output.slice(0, 100)}`)
  const modules = lines.flatMap(([kind, path = '', version = '', h1], index): GoModule[] => {
    if (kind !== 'mod' && kind !== 'dep') return []
    const next = lines[index + 1]
    if (next?.[0] !== '=>') return [{ path, version, h1 }]
    return [{ path: next[1] ?? path, version: next[2] ?? version, h1: next[3] }]
  })
  return [{ path: STANDARD_LIBRARY, version: goVersion, h1: undefined }, ...modules]
}

export const isStandardLibrary = ({ path }: GoModule): boolean => path === STANDARD_LIBRARY

/** The folder of a module in the module cache, where an upper-case letter is written as `!` and the lower-case letter. */
export const cacheFolder = ({ path, version }: GoModule): string => {
  const encode = (text: string): string => text.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`)
  return `${encode(path)}@${encode(version)}`
}
