// Where the programs of a build are. A build is a folder: of sources, such as this tree or a copy of it, of the bundles that
// packages contain, or of unpacked packages. HOLDFAST_PROGRAMS chooses the build that tests run. See
// docs/design/packages.md#programs-of-tests

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { env } from 'node:process'

/** Folder of this tree, which is itself a build of sources. */
export const ROOT = join(import.meta.dirname, '../../../..')
const NODE = join(ROOT, 'node_modules/.bin/node')
const VARIABLE = 'HOLDFAST_PROGRAMS'

/** The paths of each program below a folder of sources and below a folder of bundles, which is /usr/lib of packages. */
export const PROGRAMS = {
  server: {
    sources: 'packages/server/src/main.ts',
    bundles: 'holdfast-server/server/dist/holdfast-server.mjs',
  },
  agent: { sources: 'packages/agent/src/main.ts', bundles: 'holdfast-agent/holdfast-agent.mjs' },
  fencer: { sources: 'packages/agent/src/fencer-main.ts', bundles: 'holdfast-agent/holdfast-fencer.mjs' },
  cli: { sources: 'packages/cli/src/main.ts', bundles: 'holdfast-cli/holdfast.mjs' },
} as const

export type ProgramName = keyof typeof PROGRAMS

export interface Program {
  /** The Node that runs the program: that of its package, or that of this tree. */
  readonly node: string
  readonly main: string
  /** Variables that are added to those of the test's process; an undefined one is removed. */
  readonly env: { readonly [name: string]: string | undefined }
}

/** Where packages install programs, below the folder that they are unpacked into. */
const INSTALLED = 'usr/lib'

/** The build that tests run unless they name another one: the folder in HOLDFAST_PROGRAMS, or this tree. */
export function testedBuild(named = env[VARIABLE]): string {
  if (named === undefined || named === '') return ROOT
  const folder = resolve(ROOT, named)
  const installed = join(folder, INSTALLED)
  return existsSync(installed) ? installed : folder
}

/** Where a folder of sources has its own bundles, which then are the programs of this build. */
export const bundlesIn = (build: string): string => join(build, 'bundles')

/** True for a folder of sources; false for a folder of bundles. */
const hasSources = (build: string): boolean => existsSync(join(build, 'packages'))

/** A program of a build. Throws if the build does not have it: no other build takes its place. */
export function programIn(folder: string, program: ProgramName): Program {
  const build = existsSync(bundlesIn(folder)) ? bundlesIn(folder) : folder
  const main = join(build, PROGRAMS[program][hasSources(build) ? 'sources' : 'bundles'])
  if (!existsSync(main))
    throw new Error(
      `There is no ${program} at ${main}. Build it with scripts/build --bundles, unpack packages with scripts/package/unpack, or correct ${VARIABLE}.`,
    )
  return { node: nodeOf(build, main), main, env: environmentOf(build) }
}

/** Whether a build has a feature, which its sources show by a file. Bundles have every feature of this tree. */
export const buildHas = (build: string, file: string): boolean =>
  !hasSources(build) || existsSync(join(build, file))

/** A package installs its own Node in the folder of its name. */
function nodeOf(build: string, main: string): string {
  if (hasSources(build)) return NODE
  const [name = ''] = main.slice(build.length + 1).split('/')
  const packaged = join(build, name, 'node')
  return existsSync(packaged) ? packaged : NODE
}

/**
 * A server of an earlier version rejects the variable of the tests. Copies of the sources have their own compile cache: entries
 * of the shared one would outlive the copy.
 */
function environmentOf(build: string): Program['env'] {
  const cache =
    build === ROOT || !hasSources(build) ? {} : { NODE_COMPILE_CACHE: join(build, 'compile-cache') }
  return { [VARIABLE]: undefined, ...cache }
}
