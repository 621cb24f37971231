// The steps of a part, in order: a test file each, or a command.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { PARTS, type Part } from './parts.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** A file of tests; absent for a command. */
  readonly file?: string
}

const INSTALL: readonly Step[] = [
  { name: 'packages', command: ['bash', 'scripts/build', '--formats', 'deb'] },
  { name: 'unpacked packages', command: ['scripts/package/unpack', 'dist/packages', 'dist/installed'] },
]

const testStep = (file: string): Step => ({
  name: file,
  file,
  command: ['vitest', 'run', '--reporter=default', file],
})

/** The steps of a part with the files as they are now. */
export const stepsOf = ({ steps, isInstalled }: Part, root = ROOT): Step[] => [
  ...(isInstalled === true ? INSTALL : []),
  ...steps.flatMap((step) => ('tests' in step ? filesOf(step.tests, root).map(testStep) : [step])),
]

const filesOf = (globs: readonly string[], root: string): string[] =>
  globs.flatMap((glob) => globSync(glob, { cwd: root }).sort())

export function partOf(name: string): Part {
  const found = PARTS.find((part) => part.name === name)
  if (found === undefined) throw new Error(`there is no part ${name}; npm run long -- list prints them`)
  return found
}
