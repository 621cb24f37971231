// The seed that found each seeded bug last. It is tried first; if it finds the bug no longer, the other seeds are tried as well.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'scripts/seeded-bugs/known-seeds.json'

export type KnownSeeds = { readonly [bug: string]: number }

export const readKnownSeeds = (root: string): KnownSeeds =>
  existsSync(join(root, FILE)) ? JSON.parse(readFileSync(join(root, FILE), 'utf8')) : {}

/** Adds the seed of a bug. */
export const recordSeed = (root: string, bug: string, seed: number): void =>
  writeFileSync(join(root, FILE), `${JSON.stringify({ ...readKnownSeeds(root), [bug]: seed }, null, 2)}\n`)
