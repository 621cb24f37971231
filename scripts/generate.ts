// `npm run generate`: writes everything that is made from the code and kept in the repository. Look at the difference before you
// commit it: a golden file that changes is a change of behavior.
//
//   npm run generate                  the reference, the pages of the CLI, golden records, golden Compose conversions
//   npm run generate -- --engines     also golden answers of the API, from real engines
//   npm run generate -- --screens     also the pictures of docs/screens, as root, on a platform with machines

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { execPath, stdout } from 'node:process'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..')
const VITEST = 'node_modules/vitest/vitest.mjs'

const { values } = parseArgs({
  options: {
    engines: { type: 'boolean', default: false },
    screens: { type: 'boolean', default: false },
  },
})

const golden = (project: string, test: string): string[] => [VITEST, 'run', '--project', project, '-u', test]

run('reference', ['scripts/reference.ts'])
run('pages of the CLI', ['scripts/build-cli.ts', '--docs'])
run('golden records', ['scripts/golden-records.ts'])
run('golden Compose conversions', golden('unit', 'packages/manifest/src/compose/compose.test.ts'))
if (values.engines) run('golden answers', golden('real', 'tests/real/api/order.test.ts'))
if (values.screens) {
  run('screens of the CLI', ['scripts/screens.ts'])
  run('screens of the dashboard', ['scripts/screens.ts', 'dashboard'])
}

function run(name: string, words: readonly string[]): void {
  stdout.write(`generate: ${name}\n`)
  execFileSync(execPath, words, { cwd: ROOT, stdio: 'inherit' })
}
