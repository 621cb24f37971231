// Reads the built dashboard into memory when the server starts, so that a request can name no other file and an update of
// the files on disk cannot mix two builds.

import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface UiFile {
  readonly type: string
  readonly bytes: Uint8Array
  readonly etag: string
  readonly br?: Uint8Array
  readonly gzip?: Uint8Array
}

export interface UiFiles {
  readonly index: string
  /** The other files by their path below /ui/, without files that the build needs only for itself. */
  readonly others: ReadonlyMap<string, UiFile>
}

/** More than a build has; a wrong folder in the configuration must not fill the memory. */
const MAX_FILES = 2_000
const MAX_BYTES = 64 * 1024 ** 2

const TYPES: { readonly [ending: string]: string } = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

const isText = (type: string): boolean => /^(?:text|application)\/|svg/.test(type)

/** The files of a build; undefined if the folder has no index.html. Throws if the folder has too many files. */
export function loadUiFiles(folder: string): UiFiles | undefined {
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return undefined
  const others = new Map<string, UiFile>()
  const paths = filePaths(folder)
  for (const path of paths) {
    const type = TYPES[extname(path)]
    if (type !== undefined && path !== 'index.html') others.set(path, readUiFile(folder, path, type))
  }
  return { index: readFileSync(index, 'utf8'), others }
}

function filePaths(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
  const bytes = found.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0)
  if (found.length > MAX_FILES || bytes > MAX_BYTES)
    throw new Error(
      `${folder} is not a build of the dashboard: it has ${found.length} files of ${bytes} bytes; check ui.folder`,
    )
  return found
}

/** The build makes the compressed files; a file without them is compressed here once. */
function readUiFile(folder: string, path: string, type: string): UiFile {
  const bytes = readFileSync(join(folder, path))
  const sibling = (ending: string): Uint8Array | undefined => {
    const name = join(folder, `${path}${ending}`)
    return existsSync(name) ? readFileSync(name) : undefined
  }
  const [br, gzip] = [sibling('.br'), sibling('.gz') ?? (isText(type) ? gzipSync(bytes) : undefined)]
  return {
    type,
    bytes,
    etag: `"${hash('sha256', bytes, 'hex').slice(0, 32)}"`,
    ...(br === undefined ? {} : { br }),
    ...(gzip === undefined ? {} : { gzip }),
  }
}
