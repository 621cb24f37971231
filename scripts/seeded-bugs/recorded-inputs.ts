// The source files on which the outcome of the seeded bugs depends. Their hash is recorded after a run that found every
// bug.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashFiles } from '../ci/hash-files.ts'

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

const hashInputs = (root: string): string => hashFiles(root, INPUTS, (path) => !path.endsWith('.test.ts'))
