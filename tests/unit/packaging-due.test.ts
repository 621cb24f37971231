// CI builds the packages and walks the guides when something in them changed, and otherwise in every fourth run.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { ROTATIONS } from '@holdfast/testkit/rotation'
import { describe, expect, test } from 'vitest'
import { EVERY, packagingDue, withPackages } from '../../scripts/ci/packaging.ts'
import { ALONE } from '../../scripts/first-minutes/guides.ts'

const ROOT = join(import.meta.dirname, '../..')
const SLICES = Array.from({ length: ROTATIONS.packaging }, (_, slice) => slice)
const NOT_IN_TURN = 1

describe('the packages are due', () => {
  test.each([
    'scripts/package/try-setup',
    'scripts/package/bundles/bundles.ts',
    'scripts/build',
    'scripts/build.ts',
    'scripts/build-cli.ts',
    'scripts/bundle-processes.ts',
    'scripts/bootstrap',
    'scripts/dev-up.ts',
    'scripts/dev/keeper.ts',
    'scripts/first-minutes.ts',
    'scripts/first-minutes/walk.ts',
    'engines/vault/holdfast-vault.service',
    'engines/caddy/main.go',
    'packages/agent/holdfast-agent.service',
    'packages/agent/package.json',
    'packages/cli/src/print/table.ts',
    'packages/server/src/setup/run-setup.ts',
    'docs/guides/install.md',
    'examples/web.yaml',
    'package-lock.json',
    'README.md',
  ])('when %s changes', (path) => {
    expect(packagingDue(['docs/design/api.md', path], NOT_IN_TURN)).toBe(`${path} has changed`)
  })

  test.each([
    'packages/core/src/admission/rules/replicas.ts',
    'packages/server/src/api/routes/jobs.ts',
    'packages/cli/README.md',
    'docs/design/packages.md',
    'scripts/seeded-bugs.ts',
    'tests/unit/packaging-due.test.ts',
    '.ci/ledger/12.json',
  ])('in no other run when %s changes', (path) => {
    expect(packagingDue([path], NOT_IN_TURN)).toBeUndefined()
  })

  test('in one run of four without a change', () => {
    const due = SLICES.filter((slice) => packagingDue([], slice) !== undefined)
    expect(due).toEqual(SLICES.filter((slice) => slice % EVERY === 0))
    expect(due).toHaveLength(SLICES.length / EVERY)
  })

  test('when the changes are not known, and in runs that leave nothing out', () => {
    expect(packagingDue(undefined, NOT_IN_TURN)).toBeDefined()
    expect(packagingDue([], undefined)).toBeDefined()
  })

  test.each([
    ['HEAD', 'packaging=1', /^(due: .* has changed|not due: .*)\n$/],
    ['HEAD', 'packaging=0', /^due: /],
    ['', 'packaging=1', /^due: the changes since the last green run are not known\n$/],
    ['f'.repeat(40), 'packaging=1', /^due: the changes since the last green run are not known\n$/],
  ])('or not, and the command prints which for the commit %j and %s', (since, slices, answer) => {
    const script = join(ROOT, 'scripts/ci/packaging-due.ts')
    const printed = execFileSync(execPath, [script], {
      encoding: 'utf8',
      env: { ...env, CI_SINCE: since, CI_SLICES: slices },
    })
    expect(printed).toMatch(answer)
  })
})

test('the runs with packages in turn walk every guide that needs the platform alone', () => {
  const inTurn = SLICES.filter((slice) => slice % EVERY === 0)
  expect(inTurn.flatMap((slice) => withPackages(ALONE, slice)).toSorted()).toEqual(ALONE.toSorted())
  for (const slice of SLICES) expect(withPackages(ALONE, slice)).toHaveLength(1)
  expect(withPackages(ALONE, undefined)).toEqual(ALONE)
})
