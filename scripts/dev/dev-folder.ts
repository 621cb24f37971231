// Where the development platform keeps its files, and which of them anybody but its owner may read: none.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const REPOSITORY = join(import.meta.dirname, '../..')

export interface DevFolder {
  readonly path: string
  /** What a person and a script need to talk to the platform. */
  readonly environment: string
  /** The processes that dev:down ends. */
  readonly processes: string
  readonly serverConfig: string
  /** To apply first. */
  readonly manifest: string
  readonly serverLog: string
  /** Root token and unseal key. */
  readonly storeKeys: string
  /** What the keeper itself has to say. */
  readonly keeperLog: string
  /** Where the keeper takes orders about its machines. */
  readonly powerSocket: string
  /** Of one engine. */
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
    serverLog: inside('server.log'),
    storeKeys: inside('secrets-store.json'),
    keeperLog: inside('keeper.log'),
    powerSocket: inside('power.sock'),
    engine: inside,
  }
}

/** `.dev` of this repository, or what `--folder` names. Any other argument is a mistake. */
export function folderFromArguments(args: readonly string[]): DevFolder {
  const [option, path, ...rest] = args
  if (option === undefined) return devFolder(join(REPOSITORY, '.dev'))
  if (option === '--folder' && path !== undefined && rest.length === 0) return devFolder(resolve(path))
  throw new Error(`Unknown argument ${args.join(' ')}. There is one: --folder PATH, instead of .dev.`)
}

/** False when the folder is there already: somebody else's platform, or what is left of one. */
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

/** Whole or not at all, and readable by its owner alone from the first byte on. */
export function writePrivate(path: string, text: string): void {
  const draft = `${path}.new`
  rmSync(draft, { force: true })
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}

/** An engine that was ended a moment ago may still have a file open for writing: tried again for a while. */
export function removeFolder({ path }: DevFolder): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}
