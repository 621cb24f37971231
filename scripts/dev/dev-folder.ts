// The folder of the development platform. Only the folder's owner can read its files.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const REPOSITORY = join(import.meta.dirname, '../..')

export interface DevFolder {
  readonly path: string
  /** Path of the file with addresses, tokens and nodes, for people and scripts. */
  readonly environment: string
  /** Path of the file that lists the processes that dev:down stops. */
  readonly processes: string
  readonly serverConfig: string
  /** Path of the sample manifest. */
  readonly manifest: string
  /** Path of the sample manifest of a database with a volume. */
  readonly databaseManifest: string
  readonly serverLog: string
  /** Path of the folder of the built dashboard. */
  readonly dashboard: string
  /** Path of the file with the root token and the unseal key of the secrets store. */
  readonly storeKeys: string
  /** Path of the log of the platform's parent process (keeper). */
  readonly keeperLog: string
  /** Path of the socket on which the platform's parent process (keeper) accepts power commands. */
  readonly powerSocket: string
  /** Path of the folder of one engine. */
  engine(name: string): string
}

function devFolder(path: string): DevFolder {
  const inside = (name: string) => join(path, name)
  return {
    path,
    environment: inside('env.json'),
    processes: inside('processes.json'),
    serverConfig: inside('server.yaml'),
    manifest: inside('hello.yaml'),
    databaseManifest: inside('database.yaml'),
    serverLog: inside('server.log'),
    dashboard: inside('dashboard'),
    storeKeys: inside('secrets-store.json'),
    keeperLog: inside('keeper.log'),
    powerSocket: inside('power.sock'),
    engine: inside,
  }
}

/** The folder named by `--folder`, or `.dev` of this repository. Throws on any other argument. */
export function folderFromArguments(args: readonly string[]): DevFolder {
  const [option, path, ...others] = args
  if (option === undefined) return devFolder(join(REPOSITORY, '.dev'))
  if (option === '--folder' && path !== undefined && others.length === 0) return devFolder(resolve(path))
  throw new Error(`Unknown argument ${args.join(' ')}. The only option is --folder PATH.`)
}

/** Creates the folder; false if it already exists, because another platform runs or was removed only partly. */
export function claimFolder({ path }: DevFolder): boolean {
  if (existsSync(path)) return false
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    if (existsSync(path)) return false
    throw error
  }
}

/** Writes a file atomically, readable only by its owner. */
export function writePrivate(path: string, text: string): void {
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}

/** Removes the folder. Retries for a while, because an engine that has just stopped may still have files open. */
export function removeFolder({ path }: DevFolder): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}
