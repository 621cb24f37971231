// `npm run check`: everything that a change is checked for without engines, in at most two minutes on two cores. Formatting,
// lint, types, unused code and the rules of the repository are checked as a whole; of the unit tests and the tests of controllers
// those that the change can affect run, nearest first. `npm run test:unit` runs all of them.

import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { env, exit, stdout } from 'node:process'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules/.bin')
/** For the tests that the change can affect; the rest of the two minutes is for the other checks. */
const TEST_SECONDS = 40

interface Check {
  readonly name: string
  readonly command: readonly [string, ...string[]]
}

/** Lanes run one after the other, the checks of a lane side by side. */
const LANES: readonly (readonly Check[])[] = [
  [
    { name: 'format', command: ['biome', 'format', '.'] },
    { name: 'types', command: ['npm', 'run', '--silent', 'types'] },
  ],
  [
    { name: 'lint', command: ['biome', 'lint', '.'] },
    { name: 'unused code', command: ['knip'] },
  ],
  [{ name: 'rules', command: ['vitest', 'run', '--project', 'unit', 'tests/unit'] }],
  [
    {
      name: 'affected tests',
      command: ['node', 'scripts/affected.ts', '--near', '--seconds', String(TEST_SECONDS)],
    },
  ],
]

const began = performance.now()
const secondsSince = (start: number): string => `${((performance.now() - start) / 1000).toFixed(0)} s`
const failed: string[] = []
for (const lane of LANES) await Promise.all(lane.map(run))
const verdict = failed.length === 0 ? 'passed' : `FAILED: ${failed.join(', ')}`
stdout.write(`check: ${verdict}, after ${secondsSince(began)}\n`)
exit(failed.length === 0 ? 0 : 1)

/** Prints the output of a check only if it fails, except what the affected tests did not run. */
async function run({ name, command: [program, ...words] }: Check): Promise<void> {
  const start = performance.now()
  const output: Buffer[] = []
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { ...env, PATH: `${BIN}${delimiter}${env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => output.push(part))
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const text = Buffer.concat(output).toString('utf8')
  if (status !== 0) failed.push(name)
  stdout.write(`${name}: ${status === 0 ? 'ok' : 'FAILED'}, ${secondsSince(start)}\n`)
  stdout.write(status === 0 ? (text.match(/^not run: .*\n/gm) ?? []).join('') : text)
}
