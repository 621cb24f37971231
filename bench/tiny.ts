// Does every benchmark still start and measure? Runs each in its tiny size, one after another, and prints what failed. The large
// ones run in turn in CI. Usage: node bench/tiny.ts [NAME...]

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { argv, execPath } from 'node:process'
import { isInTurn } from '@holdfast/testkit/rotation'
import { PARTS, TINY_SIZES, type TinySize } from './lib/tiny-sizes.ts'

const ROOT = join(import.meta.dirname, '..')
const TIMEOUT_MS = 300_000

/** Returns why the benchmark failed, or undefined. */
function failureOf({ bench, words, figure }: TinySize): string | undefined {
  const { status, stdout, stderr } = spawnSync(execPath, [`bench/${bench}.ts`, ...words.split(' ')], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) return `it ended with ${status}\n${stdout}${stderr}`
  const value = Number(figure.exec(stdout)?.[1])
  return value > 0 ? undefined : `it printed no figure that matches ${figure}\n${stdout}${stderr}`
}

const asked = argv.slice(2)
const large = TINY_SIZES.filter(({ isLarge }) => isLarge)
const isDue = (size: TinySize): boolean =>
  asked.length > 0
    ? asked.includes(size.bench)
    : size.isLarge !== true || isInTurn('tiny-benches', large.indexOf(size))

const failures: string[] = []
const names = globSync('bench/*.ts', { cwd: ROOT }).map((file) => basename(file, '.ts'))
for (const name of names)
  if (!PARTS.includes(name) && !TINY_SIZES.some(({ bench }) => bench === name))
    failures.push(`${name}: it has no tiny size in bench/lib/tiny-sizes.ts`)
const due = TINY_SIZES.filter(isDue)
for (const size of due) {
  const started = performance.now()
  const failure = failureOf(size)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${failure === undefined ? 'ok    ' : 'FAILED'} ${size.bench}, ${seconds} s`)
  if (failure !== undefined) failures.push(`${size.bench}: ${failure}`)
}
const left = TINY_SIZES.filter((size) => !due.includes(size)).map(({ bench }) => bench)
if (left.length > 0) console.log(`not in this run: ${left.join(', ')}`)
for (const failure of failures) console.log(`FAILED ${failure}`)
console.log(
  `${due.length - failures.filter((each) => due.some(({ bench }) => each.startsWith(`${bench}:`))).length} passed, ${failures.length} failed`,
)
if (failures.length > 0 || due.length === 0) process.exitCode = 1
