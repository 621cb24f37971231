// Runs unit tests on the sources of this tree with some texts replaced, without changing a file.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type Edit, editText } from '@holdfast/testkit/builds/copy-packages'
import { startVitest } from 'vitest/node'

export interface TestOutcome {
  readonly test: string
  readonly passed: boolean
  /** Whether an expectation failed. A test also fails if an edit breaks the code, which proves nothing. */
  readonly failedByExpectation: boolean
}

const UNIT = ['packages/*/src/**/*.test.ts', 'tests/unit/**/*.test.ts']
/** A test that waits for what an edit prevents ends after this time. */
const TEST_MS = 60_000

/** Throws if the text of an edit is not in its file once, or if the tests load no edited file. */
export async function runWithEdits(
  root: string,
  files: readonly string[],
  edits: readonly Edit[],
): Promise<readonly TestOutcome[]> {
  const edited = new Map<string, string>()
  for (const edit of edits) {
    const path = join(root, edit.file)
    edited.set(path, editText(edited.get(path) ?? readFileSync(path, 'utf8'), edit))
  }
  const loaded = new Set<string>()
  const replacing = {
    name: 'edited files',
    enforce: 'pre' as const,
    load(id: string) {
      const text = edited.get(id)
      if (text !== undefined) loaded.add(id)
      return text
    },
  }
  const quiet = [{}]
  const vitest = await startVitest(
    'test',
    [...files],
    {
      ...{ root, config: false, watch: false, include: UNIT, reporters: quiet },
      // A module that was kept from another run would not have the edits.
      ...{ testTimeout: TEST_MS, isolate: false, maxWorkers: 1, fsModuleCache: false },
    },
    { plugins: [replacing] },
  )
  const modules = vitest.state.getTestModules()
  const outcomes = modules.flatMap(({ children }) => [...children.allTests()]).map(outcomeOf)
  await vitest.close()
  // A failed test, which is expected here, has made this the exit code of the process.
  process.exitCode = 0
  const unused = [...edited.keys()].find((path) => !loaded.has(path))
  if (unused !== undefined) throw new Error(`${files.join(', ')} does not load ${unused}`)
  return outcomes
}

interface FinishedTest {
  readonly name: string
  result(): { readonly state: string; readonly errors?: readonly { readonly name?: string }[] | undefined }
}

function outcomeOf(test: FinishedTest): TestOutcome {
  const { state, errors = [] } = test.result()
  const failedByExpectation = errors.some(({ name }) => name === 'AssertionError')
  return { test: test.name, passed: state === 'passed', failedByExpectation }
}
