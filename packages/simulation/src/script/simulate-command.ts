// `holdfast-simulate FILE`: runs the script and prints its story. Exit codes: 0, every invariant held; 1, an invariant was
// violated; 2, the file cannot be read or has faults, and nothing ran.

import { readFileSync } from 'node:fs'
import { explainFault } from '@holdfast/server/config/config-fault'
import { createInvariants, INVARIANTS } from '../invariants/index.ts'
import { printStory, printSummary } from './print-story.ts'
import { readScript } from './read-script.ts'
import { runScript } from './run-script.ts'

export interface SimulateOptions {
  readonly file: string
  /** Seed from the command line, which overrides the seed of the file. */
  readonly seed: number | undefined
}

export interface Simulated {
  readonly exitCode: 0 | 1 | 2
  /** The text to print: to standard error with exit code 2, to standard output otherwise. */
  readonly text: string
}

export async function simulate({ file, seed: asked }: SimulateOptions): Promise<Simulated> {
  const content = readFile(file)
  if (typeof content !== 'string') return { exitCode: 2, text: `${content.message}\n` }
  const read = readScript(content, file)
  if (!read.ok) {
    const count = `${read.faults.length} ${read.faults.length === 1 ? 'fault' : 'faults'}`
    const summary = `${count} in the script; nothing was run`
    return { exitCode: 2, text: [...read.faults.map(explainFault), summary, ''].join('\n') }
  }
  const { script } = read
  const seed = asked ?? script.seed ?? 1
  const invariants = createInvariants(script)
  const result = await runScript(script, { seed, ...invariants })
  const violations = result.violations.length > 0 ? result.violations : invariants.checkEnd()
  const summed = {
    ...result,
    violations,
    seed,
    scriptSteps: script.steps.length,
    invariants: INVARIANTS.length,
  }
  return { exitCode: violations.length > 0 ? 1 : 0, text: `${printStory(result)}\n${printSummary(summed)}` }
}

function readFile(file: string): string | Error {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
