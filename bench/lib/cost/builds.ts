// The two builds that are compared: the packages of a commit and those of the current tree, each in a folder of its own, with
// the measuring files of the current tree beside them. Both use the in-memory store of the current tree as their etcd.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  applyEdit,
  copyPackages,
  extractPackages,
  type PackagesCopy,
} from '@holdfast/testkit/builds/copy-packages'
import { adaptOlder } from './older-bases.ts'

const ROOT = join(import.meta.dirname, '../../..')
const BASE_FILE = '.ci/cost-base'
const MEASURING = ['bench/lib/cost', 'bench/lib/create-body.ts', 'bench/lib/scheduling-load.ts']
const SIMULATION = 'packages/simulation'

/** The commits of .ci/cost-base: `full` for the whole benchmark, `ci` for CI. */
export function readBases(): { readonly full: string; readonly ci: string } {
  const lines = readFileSync(join(ROOT, BASE_FILE), 'utf8').split('\n')
  const commitOf = (name: string): string => {
    const found = lines.map((line) => line.split(/\s+/)).find(([word]) => word === name)?.[1] ?? ''
    if (!/^[0-9a-f]{40}$/.test(found)) throw new Error(`${BASE_FILE} names no commit for ${name}`)
    return found
  }
  return { full: commitOf('full'), ci: commitOf('ci') }
}

/** The packages of a commit. Throws if the commit is missing, as in a shallow clone. */
export function buildOf(commit: string): PackagesCopy {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
  } catch {
    throw new Error(
      `the base commit ${commit} is not in this clone, so the cost cannot be compared. Run: git fetch --unshallow`,
    )
  }
  return prepare(extractPackages(ROOT, commit))
}

/** The packages of the current tree, with all uncommitted changes. */
export const buildOfTree = (): PackagesCopy => prepare(copyPackages(ROOT))

function prepare(copy: PackagesCopy): PackagesCopy {
  const { folder } = copy
  for (const each of MEASURING) {
    mkdirSync(dirname(join(folder, each)), { recursive: true })
    cpSync(join(ROOT, each), join(folder, each), { recursive: true })
  }
  linkSimulation(folder)
  adaptOlder(folder)
  applyEdit(folder, {
    file: 'packages/server/src/connect-engines.ts',
    find: `import { createEtcdClient } from './adapters/etcd/create-etcd-client.ts'`,
    replace: `import { createEtcdClient } from './in-memory-etcd.ts'`,
  })
  writeFileSync(
    join(folder, 'packages/server/src/in-memory-etcd.ts'),
    `import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
const keyspace = createMemoryKeyspace()
export const createEtcdClient = () => ({ ...connectMemory(keyspace), keyspace })
`,
  )
  return copy
}

/** Replaces the in-memory store of a build by that of the current tree, so that both builds pay the same for it. */
function linkSimulation(folder: string): void {
  const memory = join(folder, SIMULATION, 'src/memory')
  mkdirSync(memory, { recursive: true })
  cpSync(join(ROOT, SIMULATION, 'src/memory'), memory, { recursive: true })
  cpSync(join(ROOT, SIMULATION, 'package.json'), join(folder, SIMULATION, 'package.json'))
  try {
    symlinkSync(join(folder, SIMULATION), join(folder, 'node_modules/@holdfast/simulation'))
  } catch {
    // The build has the package already.
  }
}
