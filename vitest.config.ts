import { env } from 'node:process'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/longest-first.ts'
import { TIMED } from './tests/timed-files.ts'

// `npm run long` sets HOLDFAST_LONG: the suites raise their counts and durations, and a test may take an hour.
const long = env.HOLDFAST_LONG === '1'
const HOUR_MS = 3_600_000

// unit: pure, no engine.
// real: with engines that the testkit starts; the files of a worker share them.
// machines: like real, for code that runs on a node; separate, because it mostly waits for Docker and may run in parallel.
// timed: tests of all kinds with time limits, or whose requests fail on a starved machine; nothing else runs then.
// lab: full nodes with their own Docker Engines, as root. simulation: thousands of seeds on all cores, and the search.
const SEEDS =
  'packages/simulation/src/{seeds/seeds,seeds/failures,seeds/many-jobs,seeds/store-cuts,seeds/creations,effects/effects,promotion/search,promotion/missing-guards}.test.ts'
const MACHINES = ['packages/agent/src/**/*.real.test.ts', 'packages/testkit/src/**/*.real.test.ts']
const LAB = ['e2e/**/*.test.ts', 'tests/real/dashboard/tasks-on-machines.test.ts']
// Waits are long enough for a loaded machine; a condition that holds earlier ends them at once.
const onEngines = {
  expect: { poll: { timeout: 20_000, interval: 20 } },
  testTimeout: long ? HOUR_MS : 60_000,
  hookTimeout: 120_000,
  fileParallelism: false,
  isolate: false,
}
const WARNINGS = 'tests/no-warnings.ts'
export default defineConfig({
  test: {
    setupFiles: [WARNINGS],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'tests/unit/**/*.test.ts'],
          exclude: ['**/*.real.test.ts', SEEDS],
          // By default vitest leaves one core idle, which is half of a small machine.
          maxWorkers: '100%',
          // A worker runs all its files in one process, and loads a module once. The files leave no global state behind.
          isolate: false,
          testTimeout: long ? HOUR_MS : 60_000,
        },
      },
      {
        test: {
          ...onEngines,
          name: 'real',
          // Each worker starts its own engines; tests use unique names and ports. They wait most of the time, so three
          // workers keep two cores busy.
          fileParallelism: true,
          maxWorkers: 3,
          include: ['packages/*/src/**/*.real.test.ts', 'tests/real/**/*.test.ts'],
          exclude: [...MACHINES, ...TIMED, ...LAB],
        },
      },
      {
        test: {
          ...onEngines,
          name: 'controllers',
          include: ['tests/controllers/**/*.test.ts'],
          fileParallelism: true,
          maxWorkers: '100%',
        },
      },
      { test: { ...onEngines, name: 'timed', include: TIMED, testTimeout: long ? HOUR_MS : 120_000 } },
      {
        test: {
          ...onEngines,
          name: 'machines',
          // Tests of a node wait for its Docker Engine for five sixths of their time.
          fileParallelism: true,
          maxWorkers: 2,
          include: MACHINES,
          exclude: TIMED,
        },
      },
      // The search uses one thread, so the seeds run beside it; by default vitest would run the files one after another.
      { test: { name: 'simulation', include: [SEEDS], maxWorkers: '100%' } },
      {
        test: {
          name: 'lab',
          expect: { poll: { timeout: 30_000, interval: 50 } },
          include: LAB,
          exclude: TIMED,
          testTimeout: long ? HOUR_MS : 300_000,
          hookTimeout: 300_000,
          // Tests beside each other on one lab.
          maxConcurrency: 10,
          // Labs have their own names and addresses and mostly wait, so two at a time use both cores. A long run loads one lab
          // as much as the machine allows.
          maxWorkers: long ? 1 : 2,
          isolate: false,
        },
      },
    ],
  },
})
