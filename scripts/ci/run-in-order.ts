// Runs test files in a given order until one fails or the time is over.

import { join, relative } from 'node:path'
import { env } from 'node:process'
import { setTimeout as setTimeoutPromise } from 'node:timers/promises'
import { BaseSequencer, createVitest, type TestModule, type TestSpecification } from 'vitest/node'

export interface Run {
  readonly failed: readonly string[]
  readonly passed: readonly string[]
  /** Files whose turn did not come, and those that were stopped. */
  readonly notRun: readonly string[]
}

export interface RunOptions {
  readonly seconds: number
  /** Whether the first failed file ends the run. */
  readonly untilFailure: boolean
  /** Test files at a time. */
  readonly workers: number
}

/** After this time a test that does not notice the end of the run is stopped with its process. */
const GRACE_MS = 10_000
const CLOSE_MS = 5_000
const LONGEST_TIMER_MS = 2 ** 31 - 1

export async function runInOrder(
  root: string,
  paths: readonly string[],
  { seconds, untilFailure, workers }: RunOptions,
): Promise<Run> {
  const nothing: Run = { failed: [], passed: [], notRun: [...paths] }
  if (paths.length === 0 || seconds <= 0) return nothing
  env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/node-compile')
  const vitest = await createVitest('test', {
    root,
    watch: false,
    ...(untilFailure ? { bail: 1 } : {}),
    sequence: { sequencer: inOrderOf(root, paths) },
  })
  const timer = setTimeout(() => void stop(), Math.min(seconds * 1000, LONGEST_TIMER_MS))
  let late: NodeJS.Timeout | undefined
  const ended = Promise.withResolvers<readonly TestModule[]>()
  async function stop(): Promise<void> {
    late = setTimeout(() => ended.resolve(vitest.state.getTestModules()), GRACE_MS)
    await vitest.cancelCurrentRun('keyboard-input')
  }
  try {
    const wanted = new Set(paths.map((path) => join(root, path)))
    await vitest.standalone()
    const found = await vitest.globTestSpecifications([...paths])
    const specifications = found.filter(({ moduleId }) => wanted.has(moduleId))
    for (const { project } of specifications) project.config.maxWorkers = workers
    const run = vitest.runTestSpecifications(specifications).then(({ testModules }) => testModules)
    return judge(root, paths, await Promise.race([run, ended.promise]))
  } finally {
    clearTimeout(timer)
    clearTimeout(late)
    // A test that does not end must not hold up the verdict.
    await Promise.race([vitest.close(), setTimeoutPromise(CLOSE_MS)])
  }
}

function inOrderOf(root: string, paths: readonly string[]) {
  const ranks = new Map(paths.map((path, rank) => [join(root, path), rank]))
  const rank = ({ moduleId }: TestSpecification): number => ranks.get(moduleId) ?? paths.length
  return class InOrder extends BaseSequencer {
    override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return Promise.resolve(files.toSorted((a, b) => rank(a) - rank(b)))
    }
  }
}

function judge(root: string, paths: readonly string[], modules: readonly TestModule[]): Run {
  const inState = (...states: readonly string[]): string[] =>
    modules.filter((each) => states.includes(each.state())).map((each) => relative(root, each.moduleId))
  const [failed, passed] = [inState('failed'), inState('passed')]
  return {
    failed,
    passed,
    notRun: paths.filter((path) => !failed.includes(path) && !passed.includes(path)),
  }
}
