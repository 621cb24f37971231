// Gathers the Go modules inside the engines, with their licence texts from Go's module cache.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, type GoModule, isStandardLibrary, readGoModules } from './go-components.ts'
import { licenceTexts } from './licence-texts.ts'
import { recognizeLicence } from './recognize-licence.ts'
import { REVIEWED } from './reviewed-licences.ts'
import type { LicenceText, Shipped } from './shipped.ts'

const DEADLINE_MS = 300_000

const go = (words: readonly string[], cwd = tmpdir()): string =>
  execFileSync('go', words, { encoding: 'utf8', cwd, timeout: DEADLINE_MS, maxBuffer: 2 ** 26 })

/** The modules of all binaries. Modules that the cache has lost are downloaded again. */
export function gatherGo(binaries: readonly string[]): Shipped[] {
  const modules = binaries.flatMap((binary) => readGoModules(go(['version', '-m', binary])))
  const [cache = '', root = ''] = go(['env', 'GOMODCACHE', 'GOROOT']).split('\n')
  const folderOf = (module: GoModule): string =>
    isStandardLibrary(module) ? root : join(cache, cacheFolder(module))
  download(modules.filter((module) => !existsSync(folderOf(module))))
  return modules.map((module) => shippedOf(module, licenceTexts(folderOf(module))))
}

function download(missing: readonly GoModule[]): void {
  if (missing.length === 0) return
  const names = missing.map(({ path, version }) => `${path}@${version}`)
  go(['mod', 'download', ...new Set(names)])
}

function shippedOf({ path, version, h1 }: GoModule, texts: readonly LicenceText[]): Shipped {
  return {
    ecosystem: 'golang',
    name: path,
    version,
    licence: REVIEWED.get(`${path}@${version}`) ?? licenceOf(texts),
    texts,
    ...(h1 === undefined ? {} : { h1 }),
  }
}

/**
 * A module may have several licence files, for instance for code that it copied: all of them apply. A notice names licences
 * of other projects and grants none.
 */
function licenceOf(texts: readonly LicenceText[]): string | undefined {
  const licences = texts.filter(({ file }) => !/^notice/i.test(file))
  const found = licences.flatMap(({ text }) => recognizeLicence(text)?.split(' AND ') ?? [])
  return found.length === 0 ? undefined : [...new Set(found)].join(' AND ')
}
