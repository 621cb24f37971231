// Keeps the last builds of the dashboard, by the hash of everything that they are made of. Many tests and each dev:up need a
// build, and one takes several seconds of CPU.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { hashFiles } from '../ci/hash-files.ts'

const INPUTS = [
  'packages/{client,contract,core,dashboard,manifest}/{package.json,src/**}',
  'packages/dashboard/{index.html,tsconfig.json,vite.config.ts,public/**}',
  'scripts/dashboard/build.ts',
  'package-lock.json',
]
const MOST = 8
const LOCK = '.lock'
const LOOK_AGAIN_MS = 100

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
  if (!existsSync(own)) await keepOnce(kept, own, build)
  rmSync(to, { recursive: true, force: true })
  cpSync(own, to, { recursive: true })
}

/** Several test files start at the same time and need the same build: one builds it, the others wait. */
async function keepOnce(kept: string, own: string, build: (folder: string) => Promise<void>): Promise<void> {
  mkdirSync(kept, { recursive: true })
  const lock = own + LOCK
  while (!existsSync(own)) {
    if (takeLock(lock)) {
      try {
        if (!existsSync(own)) await keep(kept, own, build)
      } finally {
        rmSync(lock, { force: true })
      }
    } else if (!isHeld(lock)) rmSync(lock, { force: true })
    else await pause(LOOK_AGAIN_MS)
  }
}

function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    // Another process has it, or this process in another thread.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** A process that was killed leaves its lock behind. An empty file has an owner that has not yet written its number. */
function isHeld(lock: string): boolean {
  try {
    const owner = readFileSync(lock, 'utf8')
    return owner === '' || process.kill(Number(owner), 0)
  } catch {
    return false
  }
}

/** A build gets its name when it is complete, so that no other process copies a part of it. */
async function keep(kept: string, own: string, build: (folder: string) => Promise<void>): Promise<void> {
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
  const names = readdirSync(kept).filter((name) => !name.endsWith(LOCK))
  const builds = names.map((name) => ({ name, atMs: statSync(join(kept, name)).mtimeMs }))
  for (const { name } of builds.toSorted((a, b) => b.atMs - a.atMs).slice(MOST))
    rmSync(join(kept, name), { recursive: true, force: true })
}
