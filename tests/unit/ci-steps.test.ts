// The steps of a CI run in a small tree of its own, with a test that fails at its first try: CI repeats it, remembers it, and
// fails when it happens again.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { makeTempFolder } from '@holdfast/testkit'
import { beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Fails whenever the file `tried` is absent, and creates it, so it passes when CI repeats it. */
const UNSTABLE = `
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
test('serves', () => {
  const repeated = existsSync('tried')
  if (repeated) rmSync('tried')
  else writeFileSync('tried', '')
  expect(repeated).toBe(true)
})
`
const CONFIG = `export default { test: { projects: [{ test: { name: 'lab', include: ['e2e/*.test.ts'] } }] } }`
const BUDGETS = {
  calibrationMs: 320,
  base: 200,
  raises: [],
  cpuSeconds: { 'lab tests': 200 },
  oncePerMachine: {},
}
const RUN = `cd "$1" && source .ci/steps.sh && rotate && engine_test_step 'lab tests' 60 lab; finish 'Nothing else.'`

const folder = makeTempFolder('ci-steps').path

function runSteps(): { status: number | null; output: string } {
  const { NODE_OPTIONS: _, VITEST: __, ...clean } = env
  const { status, stdout, stderr } = spawnSync('bash', ['-c', RUN, 'run', folder], {
    env: { ...clean, CI: 'true' },
    encoding: 'utf8',
    timeout: 110_000,
  })
  return { status, output: `${stdout}${stderr}` }
}

const readKept = (path: string): string => readFileSync(join(folder, '.ci', path), 'utf8')

beforeAll(() => {
  for (const path of ['.ci/steps.sh', 'scripts/ci'])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'e2e'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'vitest.config.ts'), CONFIG)
  writeFileSync(join(folder, 'e2e/serves.test.ts'), UNSTABLE)
  writeFileSync(join(folder, '.ci/budgets.json'), JSON.stringify(BUDGETS))
})

describe('a test that is unstable', () => {
  test('passes CI once, and is remembered; the second time it fails CI', { timeout: 240_000 }, () => {
    const first = runSteps()
    expect(first.output).toContain('failed at the first try: e2e/serves.test.ts: serves: AssertionError')
    expect(first.output).toContain('\n1 passed, 0 failed\n')
    expect(first.status).toBe(0)
    expect(JSON.parse(readKept('ledgers/0001.json'))).toMatchObject({
      ...{ run: 1, passed: 1, failed: 0 },
      slices: { 'engine-lines': [1, 0] },
    })

    const second = runSteps()
    expect(second.output).toContain(
      'e2e/serves.test.ts failed at the first try in two of its last ten executions',
    )
    expect(second.output).toContain('\n1 passed, 1 failed\n')
    expect(second.status).toBe(1)
    expect(readKept('flakes.tsv').match(/e2e\/serves\.test\.ts/g)).toHaveLength(2)
  })
})
