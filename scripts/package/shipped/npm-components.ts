// Which npm packages ship inside a bundle: the files of the bundle, attributed to the entries of package-lock.json.

import type { Metafile } from 'esbuild'

interface LockEntry {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
}

/** `packages` of package-lock.json: entries by their path, such as node_modules/ws. */
export type LockedPackages = { readonly [path: string]: LockEntry }

/** Paths of the packages that contribute at least one byte to the bundle. */
export function packagesOfBundle({ outputs }: Pick<Metafile, 'outputs'>): string[] {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => path),
  )
  return [...new Set(files.flatMap((path) => packagePathOf(path) ?? []))].toSorted()
}

/** The installed package that a file belongs to; undefined for files of the repository. */
export function packagePathOf(file: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]
}

/** The path of an installed package by name and version, which is all that the build of the dashboard reports. */
export function findLocked(locked: LockedPackages, name: string, version: string): string {
  const found = Object.entries(locked).find(
    ([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version,
  )
  if (found === undefined) throw new Error(`package-lock.json has no ${name} ${version}`)
  return found[0]
}

/** Name of the package at a path of the lock file. */
export const nameAt = (path: string): string => path.split('node_modules/').at(-1) ?? path
