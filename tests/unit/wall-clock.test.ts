// No assertion of a test derives from the wall clock, except in tests that run alone (the project `timed`) and in benches.
// The check is itself tested with planted assertions. See docs/design/ci.md#no-wall-clock

import { join, matchesGlob } from 'node:path'
import { checkWallClock } from '@holdfast/testkit/source-tree/check-wall-clock'
import { gatherSources, showViolation } from '@holdfast/testkit/source-tree/source-tree'
import { describe, expect, test } from 'vitest'
import { TIMED } from '../timed-files.ts'

const ROOT = join(import.meta.dirname, '../..')

const isTimed = (path: string): boolean => TIMED.some((pattern) => matchesGlob(path, pattern))

describe('the tests of the repository', () => {
  const found = checkWallClock(gatherSources(ROOT), isTimed)

  test('have a list of timed files', () => expect(isTimed('tests/real/api/races.test.ts')).toBe(true))
  test('assert no value of the wall clock', () => expect(found.map(showViolation)).toEqual([]))
})

const HELPERS = `
  export const elapsed = (since: number) => performance.now() - since
  export async function measured(action: () => Promise<void>) {
    const began = performance.now()
    await action()
    return { tookMs: performance.now() - began, done: true }
  }
  export async function poll<T>(probe: () => T | undefined) {
    const until = performance.now() + 30_000
    while (performance.now() < until) {
      const seen = probe()
      if (seen !== undefined) return seen
    }
    throw new Error('not within 30 s')
  }
  export const expectFast = (ms: number, what: string) => expect(ms, what).toBeLessThan(5)
`
const IMPORTS = `import { elapsed, expectFast, measured, poll } from '@holdfast/testkit/helpers'
import { read } from '@holdfast/core'
`

const linesIn = (source: string, path = 'tests/real/a.test.ts') =>
  checkWallClock(
    new Map([
      ['packages/testkit/src/helpers.ts', HELPERS],
      ['packages/core/src/index.ts', 'export const read = () => ({ at: Date.now() })'],
      [path, `${IMPORTS}${source}`],
    ]),
    isTimed,
  )
    .filter((fault) => fault.path === path)
    .map(({ line }) => line - 2)

describe('finds an assertion', () => {
  test.each([
    ['of the clock itself', 'expect(performance.now()).toBeLessThan(5)'],
    ['of the date', 'expect(record.at).toBeLessThan(Date.now())'],
    ['of a new date', 'expect(record.at < new Date()).toBe(true)'],
    ['of hrtime', 'expect(process.hrtime.bigint()).toBe(5n)'],
    ['of an expected value', 'expect(record.at).toBeGreaterThan(Date.now() - 5)'],
    ['of an expected value after not', 'expect(record.at).not.toBeLessThan(Date.now())'],
    ['of a variable', 'const began = Date.now(); const took = Date.now() - began; expect(took).toBe(5)'],
    ['of a variable that is assigned later', 'let took = 0; took = performance.now(); expect(took).toBe(5)'],
    ['of a difference with a factor', 'const took = elapsed(5) - 3 * stalls; expect(took).toBeLessThan(5)'],
    ['of a destructured pair', 'const [took, other] = [elapsed(5), 6]; expect(took).toBe(5)'],
    ['of a comparison', 'const isFast = elapsed(5) < 5; expect(isFast).toBe(true)'],
    ['of a rounded number', 'expect(Math.round(elapsed(5) / 1000)).toBe(5)'],
    ['of a text', `expect(\`took \${elapsed(5)} ms\`).toBe("took 5 ms")`],
    ['of a formatted number', 'expect(elapsed(5).toFixed(1)).toBe("5.0")'],
    ['of a function of the file', 'const took = () => performance.now() - 5; expect(took()).toBe(5)'],
    [
      'of a function that is declared below',
      'expect(since(5)).toBe(5)\nfunction since(at) { return Date.now() - at }',
    ],
    ['of an imported function', 'expect(elapsed(5)).toBe(5)'],
    ['of a property', 'const { tookMs } = await measured(act); expect(tookMs).toBeLessThan(5)'],
    ['of a property of a result', 'expect((await measured(act)).tookMs).toBeLessThan(5)'],
    ['of a literal around it', 'expect({ ms: elapsed(5) }).toEqual({ ms: 5 })'],
    ['of the longest of a list', 'const all = []; all.push(elapsed(5)); expect(Math.max(...all)).toBe(5)'],
    [
      'of every one of a list',
      'const all = []; all.push(elapsed(5)); expect(all.every((ms) => ms < 5)).toBe(true)',
    ],
    ['of a list of slow ones', 'const slow = list.filter(() => elapsed(5) > 5); expect(slow).toEqual([])'],
    ['of whether one was slow', 'expect(list.some(() => elapsed(5) > 5)).toBe(false)'],
    ['of a loop over a list', 'const all = [elapsed(5)]; for (const ms of all) expect(ms).toBe(5)'],
    ['of a map', 'const all = new Map(); all.set("a", elapsed(5)); expect(all.get("a")).toBe(5)'],
    ['of mapped promises', 'expect(await Promise.all(list.map(async () => elapsed(5)))).toEqual([5])'],
    [
      'of settled promises',
      'const all = await Promise.allSettled([measured(act)]); expect(all[0].value.tookMs).toBe(5)',
    ],
    ['of a promise', 'const held = act().then(() => elapsed(5)); expect(await held).toBe(5)'],
    ['of what a helper was given', 'expect(await poll(() => Date.now())).toBe(5)'],
    ['inside a helper of the file', 'const check = (ms) => expect(ms).toBe(5)\ncheck(elapsed(5))'],
    ['inside an imported helper', 'expectFast(elapsed(5), "it")'],
    [
      'inside a helper with named arguments',
      'const check = ({ ms, max }) => expect(ms).toBe(max)\ncheck({ ms: elapsed(5), max: 5 })',
    ],
    ['that is polled', 'await expect.poll(() => elapsed(5)).toBeGreaterThan(5)'],
    ['that is soft', 'expect.soft(elapsed(5)).toBe(5)'],
    ['of the module assert', 'assert.ok(elapsed(5) < 5)'],
    ['that throws', 'if (elapsed(5) > 5) throw new Error("slow")'],
    [
      'beside a virtual clock of another test',
      'test("a", () => { vi.useFakeTimers() })\ntest("b", () => { expect(elapsed(5)).toBe(5) })',
    ],
    [
      'with fake timers but the real clock',
      'vi.useFakeTimers({ toFake: ["setTimeout"] })\nexpect(elapsed(5)).toBe(5)',
    ],
    ['of a clock that was passed on', 'const clock = { now: Date.now }; expect(clock.now()).toBe(5)'],
  ])('%s', (_, source) => expect(linesIn(source)).toHaveLength(1))

  test('in a file of the lab, in a fixture and in testkit', () => {
    const source = 'expect(elapsed(5)).toBe(5)'
    for (const path of ['e2e/a.test.ts', 'packages/agent/src/a.fixture.ts', 'packages/testkit/src/a.ts'])
      expect(linesIn(source, path)).toEqual([1])
  })

  test('on its line', () => expect(linesIn('const took = elapsed(5)\n\nexpect(took).toBe(5)')).toEqual([3]))
})

describe('does not find', () => {
  test.each([
    ['a timestamp of a record', 'const record = read(); expect(record.at - other.at).toBeLessThan(5)'],
    ['a number of measurements', 'const all = []; all.push(elapsed(5)); expect(all.length).toBe(5)'],
    ['a measurement that is only printed', 'console.log(elapsed(5)); expect(1).toBe(1)'],
    ['a measurement in a message', `expect(lost, \`after \${elapsed(5)} ms\`).toEqual([])`],
    [
      'another property of a measured result',
      'const { done } = await measured(act); expect(done).toBe(true)',
    ],
    ['the time limit of a wait', 'expect(await poll(() => record.state)).toBe("ready")'],
    ['a deadline that the product is given', 'await expect(read(performance.now() - 5)).rejects.toThrow()'],
    [
      'an answer to a request with a date',
      'const post = (body) => fetch("/", { body }); expect(await post({ at: Date.now() })).toBe(5)',
    ],
    [
      'a filter by age',
      'const isOld = ({ at }) => at < Date.now(); const old = await poll(() => isOld(one) && one); expect(old.id).toBe(5)',
    ],
    ['a random seed', 'const seed = Date.now() % 1000; expect(seed).toBe(5)'],
    ['virtual time of the test', 'test("a", () => { vi.useFakeTimers(); expect(elapsed(5)).toBe(5) })'],
    ['virtual time of the file', 'beforeEach(() => vi.useFakeTimers())\nexpect(elapsed(5)).toBe(5)'],
    [
      'a virtual clock of the simulation',
      'import { installVirtualTime } from "@holdfast/simulation/time/virtual-time"\nexpect(elapsed(5)).toBe(5)',
    ],
    ['a name that only looks like a clock', 'const Date = { now: () => 5 }; expect(Date.now()).toBe(5)'],
    ['the date of a fixed moment', 'expect(new Date(5).toISOString()).toBe(record.at)'],
  ])('%s', (_, source) => expect(linesIn(source)).toEqual([]))

  test('a timed test, or a bench', () => {
    const source = 'expect(elapsed(5)).toBe(5)'
    expect(linesIn(source, 'tests/real/api/races.test.ts')).toEqual([])
    expect(linesIn(source, 'bench/a.ts')).toEqual([])
  })
})
