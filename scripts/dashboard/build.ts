// Builds the dashboard and writes a gzip and a brotli variant beside each file that compression makes smaller, so that the
// server compresses nothing while it answers.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { copyBuild, hashSources } from './kept-builds.ts'

const ROOT = join(import.meta.dirname, '../..')
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')
const DASHBOARD = join(ROOT, 'packages/dashboard')
const KEPT = join(ROOT, 'node_modules/.cache/holdfast-dashboard')
const DEADLINE_MS = 120_000
const COMPRESSED = /\.(?:html|js|css|svg|json)$/

/** Writes the dashboard to a folder. Sources that were built before are not built again. */
export const buildDashboard = (folder: string): Promise<void> =>
  copyBuild(KEPT, hashSources(ROOT), build, folder)

async function build(folder: string): Promise<void> {
  const words = [VITE, 'build', DASHBOARD, '--outDir', folder, '--emptyOutDir', '--logLevel', 'error']
  // A process of its own: the environment of a test run would select the development build of React.
  await promisify(execFile)(execPath, words, {
    env: { ...env, NODE_ENV: 'production' },
    timeout: DEADLINE_MS,
  })
  for (const path of filesIn(folder)) if (COMPRESSED.test(path)) compress(path)
}

function compress(path: string): void {
  const content = readFileSync(path)
  const variants = [
    ['gz', gzipSync(content, { level: 9 })],
    ['br', brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })],
  ] as const
  for (const [ending, small] of variants)
    if (small.length < content.length) writeFileSync(`${path}.${ending}`, small)
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
