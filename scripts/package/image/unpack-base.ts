// Unpacks the Debian packages from the cache of scripts/bootstrap and reads what of them ships.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ENGINE_CACHE } from '../gather-built.ts'
import { REVIEWED } from '../shipped/reviewed-licences.ts'
import type { LicenceText, Shipped } from '../shipped/shipped.ts'
import {
  type BasePackage,
  commonLicenceNames,
  isCertificate,
  isShipped,
  readBasePackages,
} from './base-packages.ts'
import type { TarEntry } from './tar.ts'

const LIST = join(import.meta.dirname, '../../../engines/base/packages.txt')
const DEADLINE_MS = 60_000
const PLAIN = 0o644
const EXECUTABLE = 0o755
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt'

export interface Base {
  readonly entries: readonly TarEntry[]
  readonly shipped: readonly Shipped[]
}

/** Unpacks into a folder, whose content other builds may not share. */
export function unpackBase(folder: string): Base {
  const list = readFileSync(LIST, 'utf8')
  const packages = readBasePackages(list)
  mkdirSync(folder, { recursive: true })
  for (const each of packages) unpack(pathOf(list, each), folder)
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => ({
      path: relative(folder, join(entry.parentPath, entry.name)),
      link: entry.isSymbolicLink(),
    }))
  return {
    entries: [
      ...paths
        .filter(({ path }) => isShipped(path))
        .map(({ path, link }) => (link ? linkAt(folder, path) : fileAt(folder, path))),
      certificates(folder, paths.map(({ path }) => path).filter(isCertificate)),
    ],
    shipped: packages.map((each) => shippedOf(folder, each)),
  }
}

/** The folder that scripts/bootstrap names after the list. */
function pathOf(list: string, { name, version }: BasePackage): string {
  const hash = createHash('sha256').update(list).digest('hex').slice(0, 12)
  const folder = join(ENGINE_CACHE, `base-${hash}`, 'packages')
  const file = readdirSync(folder).find((each) => each.startsWith(`${name}_${version}_`))
  if (file === undefined) throw new Error(`${folder} has no ${name} ${version}; run scripts/bootstrap`)
  return join(folder, file)
}

function unpack(path: string, folder: string): void {
  execFileSync('dpkg-deb', ['--extract', path, folder], { timeout: DEADLINE_MS })
}

const linkAt = (folder: string, path: string): TarEntry => ({
  kind: 'link',
  path,
  target: readlinkSync(join(folder, path)),
})

/** Modes are not those on the disk, where a umask may have changed them. The loader must be executable, nothing else. */
const fileAt = (folder: string, path: string): TarEntry => ({
  kind: 'file',
  path,
  mode: /\/ld-linux[^/]*$/.test(path) ? EXECUTABLE : PLAIN,
  content: readFileSync(join(folder, path)),
})

/** The installation of the package writes this file on a Debian machine. */
const certificates = (folder: string, paths: readonly string[]): TarEntry => ({
  kind: 'file',
  path: CERTIFICATES,
  mode: PLAIN,
  content: Buffer.concat(paths.toSorted().map((path) => readFileSync(join(folder, path)))),
})

function shippedOf(folder: string, { name, version, sha256 }: BasePackage): Shipped {
  const text = readFileSync(join(folder, 'usr/share/doc', name, 'copyright'), 'utf8')
  return {
    ecosystem: 'deb',
    name,
    version,
    licence: REVIEWED.get(`${name}@${version}`),
    texts: [{ file: 'copyright', text }, ...commonLicences(folder, text)],
    integrity: `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`,
  }
}

/** The texts of the licences that a copyright file only refers to. */
const commonLicences = (folder: string, text: string): LicenceText[] =>
  commonLicenceNames(text).map((file) => ({
    file,
    text: readFileSync(join(folder, 'usr/share/common-licenses', file), 'utf8'),
  }))
