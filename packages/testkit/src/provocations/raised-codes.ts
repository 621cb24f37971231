// Finds the error codes that the product raises. They are read from its source, so that the code of every new rule is
// found.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Code, isCode } from '@holdfast/contract'

const ROOT = join(import.meta.dirname, '../../../..')
const SOURCES = ['packages/core/src/**/*.ts', 'packages/server/src/**/*.ts']
const TESTS = /\.(?:test|fixture)\.ts$|\/(?:fixture|fixtures)\.ts$/
/** Files that also contain error codes as documentation; in these files, only codes of a raised rejection are counted. */
const DOCUMENTS = /\/api\/(?:routes\/|open-api\.ts)/

export function gatherRaisedCodes(): Set<Code> {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter(
    (file) => !TESTS.test(file),
  )
  return new Set(files.flatMap((file) => codesIn(file, readFileSync(join(ROOT, file), 'utf8'))))
}

function codesIn(file: string, source: string): Code[] {
  const named = DOCUMENTS.test(file) ? /(?:reject\(|missing: )'([a-z_]+)'/g : /'([a-z_]+)'/g
  return [...source.matchAll(named)].map((found) => found[1] ?? '').filter(isCode)
}
