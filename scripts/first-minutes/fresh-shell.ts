// The shell of a walk: like that of a new user, with the programs of Holdfast in its path.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { env } from 'node:process'
import type { Shell } from './run-line.ts'

/** Programs that guides run as installed ones, with their file in the clone. */
const PROGRAMS = {
  'holdfast-agent': 'packages/agent/src/main.ts',
  'holdfast-server': 'packages/server/src/main.ts',
  'holdfast-simulate': 'packages/simulation/src/main.ts',
}

/** A shell in the clone, with the programs in a folder of its own below `home`, and with a file of CLI contexts. */
export function freshShell(
  clone: string,
  home: string,
  contexts: string = join(home, 'contexts.yaml'),
): Shell {
  const programs = join(home, 'bin')
  mkdirSync(programs)
  const node = join(clone, 'node_modules/.bin/node')
  const files = Object.entries(PROGRAMS).map(([name, file]) => [name, join(clone, file)] as const)
  for (const [name, file] of [...files, ['holdfast', bundleOf(home)] as const]) {
    const path = join(programs, name)
    writeFileSync(path, `#!/bin/sh\nexec ${node} ${file} "$@"\n`)
    chmodSync(path, 0o755)
  }
  return { folder: clone, env: freshEnvironment(programs, contexts) }
}

const bundleOf = (home: string): string => join(home, 'cli/holdfast.mjs')

/** Builds the command line as users install it. The bundle starts ten times faster than the sources. */
export const buildCli = (home: string): string =>
  `node_modules/.bin/node scripts/build-cli.ts ${dirname(bundleOf(home))}`

/** Without the variables of npm and CI. */
function freshEnvironment(programs: string, contexts: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(npm_|HOLDFAST_(?!ENGINES))/.test(name))
  const path = env['PATH']?.split(delimiter).filter((folder) => !folder.includes('node_modules')) ?? []
  return {
    ...Object.fromEntries(kept),
    PATH: [programs, ...path].join(delimiter),
    HOLDFAST_CONTEXTS_FILE: contexts,
  }
}
