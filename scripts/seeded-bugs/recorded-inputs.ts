// The source files on which the outcome of the seeded bugs depends. Their hash is recorded after a run that found every
// bug.

import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const INPUTS = [
  'packages/{contract,core,server,simulation}/src/**/*.ts',
  'scripts/seeded-bugs/*.ts',
  'packages/testkit/src/builds/copy-packages.ts',
  'package-lock.json',
]
const RECORD = '.ci/seeded-bugs.sha256'

export const isRecorded = (root: string): boolean =>
  existsSync(join(root, RECORD)) && readFileSync(join(root, RECORD), 'utf8').trim() === hashInputs(root)

export const recordInputs = (root: string): void => writeFileSync(join(root, RECORD), `${hashInputs(root)}\n`)

function hashInputs(root: string): string {
  const hash = createHash('sha256')
  const isInput = (path: string) => !/\.test\.ts$/.test(path)
  for (const path of globSync(INPUTS, { cwd: root }).filter(isInput).toSorted())
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}
