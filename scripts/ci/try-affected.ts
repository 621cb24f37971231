// Does `npm run affected` notice a mistake? Draws lines of each area by a seed, breaks one line at a time in a copy of the last
// commit, and runs `npm run affected` there. Four of five lines of each area must turn a test red, within the time of its area.
//
//   node scripts/ci/try-affected.ts [--seed N] [--lines N] [--area NAME]... [--patience N] [--draw]
//
// --patience multiplies the limits of time, for a busy machine. --draw only prints the mutants. A test that also fails without
// the mutation notices nothing.

import { execFileSync, spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { execPath, exit, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { copyTree, type TreeCopy } from './mutants/copy-tree.ts'
import { AREAS, type Area, drawMutants, type Mutant, writeMutant } from './mutants/draw-mutants.ts'
import { waitFor } from './verdict-seconds.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The part of the lines of an area that tests must notice. */
const NOTICED = 0.8
/** Time after the limit in which a run must have ended. */
const GRACE_SECONDS = 240
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2

interface Outcome {
  readonly verdict: 'red' | 'missed' | 'red without it too'
  readonly tests: string
  readonly seconds: number
  /** Of the run and its children, which is what an idle machine would need. */
  readonly cpuSeconds: number
  readonly load: number
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    lines: { type: 'string', default: '5' },
    area: { type: 'string', multiple: true },
    patience: { type: 'string', default: '1' },
    draw: { type: 'boolean', default: false },
  },
})
const wanted = AREAS.filter(({ name }) => values.area?.includes(name) ?? true)
const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
const copy = copyTree(ROOT)
let good = true
try {
  for (const area of wanted) good = tryArea(copy, area) && good
} finally {
  copy.remove()
}
exit(good ? 0 : 1)

function tryArea(tree: TreeCopy, area: Area): boolean {
  const lines = Number(values.lines)
  let red = 0
  stdout.write(
    `\n## ${area.name}\n\n| Line | Mutation | Verdict | Test | Seconds | CPU s | Load |\n|---|---|---|---|---|---|---|\n`,
  )
  let tried = 0
  for (const mutant of drawMutants(tree.root, files, area, Number(values.seed))) {
    tried += 1
    if (tried > lines) break
    const outcome = values.draw ? undefined : tryMutant(tree, mutant)
    if (outcome?.verdict === 'red') red += 1
    stdout.write(showRow(mutant, outcome))
  }
  stdout.write(`\n${red} of ${lines} lines noticed\n`)
  return values.draw || red >= lines * NOTICED
}

function showRow({ path, at, before, line, what }: Mutant, outcome: Outcome | undefined): string {
  const cell = (text: string): string => `\`${text.trim().replaceAll('|', '\\|').slice(0, 90)}\``
  const mutation = line === '' ? `${what}: ${cell(before)}` : `${what}: ${cell(line)}`
  const figures = outcome === undefined ? [] : [outcome.seconds, outcome.cpuSeconds, outcome.load]
  const cells = [outcome?.verdict ?? '', outcome?.tests ?? '', ...figures.map((each) => each.toFixed(0))]
  return `| ${path}:${at} | ${mutation} | ${cells.join(' | ')} |\n`
}

function tryMutant(tree: TreeCopy, mutant: Mutant): Outcome {
  const load = loadavg()[0] ?? 0
  try {
    writeMutant(tree.root, mutant)
    const { status, seconds, cpuSeconds, failed, rest } = runAffected(tree, mutant)
    const result = { seconds, cpuSeconds, load, tests: failed.join(' ') || rest }
    if (status === 0 || failed.length === 0) return { ...result, verdict: 'missed' }
    tree.restore()
    return { ...result, verdict: passesAlone(tree, failed) ? 'red' : 'red without it too' }
  } finally {
    tree.restore()
  }
}

function runAffected(tree: TreeCopy, { path }: Mutant) {
  const began = performance.now()
  const limit = waitFor([path]).seconds * Number(values.patience)
  const command = `TIMEFORMAT='cpu: %U %S'; time "$0" scripts/affected.ts --since HEAD --seconds ${limit}`
  const run = spawnSync('bash', ['-c', command, execPath], {
    cwd: tree.root,
    encoding: 'utf8',
    timeout: (limit + GRACE_SECONDS) * 1000,
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  const failed = [...run.stdout.matchAll(/^failed: (.*)$/gm)].map(([, test = '']) => test)
  const rest = run.stdout.match(/^not run: .*;/m)?.[0] ?? ''
  const [, user = '0', system = '0'] = /^cpu: (\S+) (\S+)$/m.exec(run.stderr) ?? []
  const seconds = (performance.now() - began) / 1000
  return { status: run.status, failed, rest, seconds, cpuSeconds: Number(user) + Number(system) }
}

/** Whether the tests pass in the tree without a mutation. */
function passesAlone(tree: TreeCopy, tests: readonly string[]): boolean {
  const vitest = join(tree.root, 'node_modules/vitest/vitest.mjs')
  return spawnSync(execPath, [vitest, 'run', ...tests], { cwd: tree.root, timeout: 600_000 }).status === 0
}
