// Keeps the last builds of the dashboard, by the hash of everything that they are made of. Many tests and each dev:up need a
// build, and one takes several seconds of CPU.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { hashFiles } from '../ci/hash-files.ts'

const INPUTS = [
  'packages/{client,contract,core,dashboard,manifest}/{package.json,src/**}',
  'packages/dashboard/{index.html,tsconfig.json,vite.config.ts,public/**}',
  'scripts/dashboard/build.ts',
  'package-lock.json',
]
const MOST = 8

/** The hash of the sources below a root, with their paths. */
export const hashSources = (root: string): string => hashFiles(root, INPUTS)

/** Copies the build with this name to a folder. Builds it first if it is not kept. */
export async function copyBuild(
  kept: string,
  name: string,
  build: (folder: string) => Promise<void>,
  to: string,
): Promise<void> {
  const own = join(kept, name)
  if (!existsSync(own)) await keep(kept, own, build)
  rmSync(to, { recursive: true, force: true })
  cpSync(own, to, { recursive: true })
}

/** A build gets its name when it is complete, so that no other process copies a part of it. */
async function keep(kept: string, own: string, build: (folder: string) => Promise<void>): Promise<void> {
  mkdirSync(kept, { recursive: true })
  const begun = mkdtempSync(join(kept, 'begun-'))
  try {
    await build(begun)
    renameSync(begun, own)
  } catch (error) {
    rmSync(begun, { recursive: true, force: true })
    // Another process may have built the same sources in the meantime.
    if (!existsSync(own)) throw error
  }
  removeOldest(kept)
}

function removeOldest(kept: string): void {
  const builds = readdirSync(kept).map((name) => ({ name, atMs: statSync(join(kept, name)).mtimeMs }))
  for (const { name } of builds.toSorted((a, b) => b.atMs - a.atMs).slice(MOST))
    rmSync(join(kept, name), { recursive: true, force: true })
}
