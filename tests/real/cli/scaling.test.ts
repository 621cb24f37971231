// Scaling policies with the CLI on a real platform: every command, its output for people and for scripts.

import { runCli } from '@holdfast/testkit/cli/run-cli'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
  const created = await platform.api(platform.acme.token).post('/api/v1/deployments', {
    ...{ kind: 'Deployment', name: 'web', image: platform.image },
    ...{ replicas: 1, resources: { cpuMillis: 100 } },
  })
  expect(created.status, created.text).toBe(201)
})
afterAll(() => platform.stop())

function cli(...words: readonly string[]) {
  return runCli(words, { env: { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token } })
}

const LINE = 'at 60 % of the requested CPU, removed after 300s'

test('a policy is planned, set, shown, changed and deleted', async () => {
  const absent = await cli('scaling', 'show', 'web')
  expect([absent.code, absent.stderr]).toEqual([5, expect.stringContaining('scaling_policy_not_found')])
  const before = await dumpTenants(platform)
  const words = ['scaling', 'set', 'web', '--min', '2', '--max', '5', '--cpu', '60']
  const planned = await cli(...words, '--dry-run')
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('would be scaled by a policy')])
  expect(await dumpTenants(platform)).toEqual(before)

  const set = await cli(...words)
  expect([set.code, set.stdout]).toEqual([
    0,
    `deployment/web is scaled by a policy: 2 to 5 replicas ${LINE}\n`,
  ])
  const shown = await cli('scaling', 'show', 'web')
  expect(shown.stdout).toMatch(/^State: +not_ready: /m)
  const read = JSON.parse((await cli('scaling', 'show', 'web', '-o', 'json')).stdout)
  expect(read).toMatchObject({ min: 2, max: 5, metric: 'cpu', status: { desired: 2 } })
  expect((await cli('describe', 'web')).stdout).toMatch(/^Scaling: +not_ready: /m)
  expect((await cli('why', 'web')).stdout).toContain('scaling not_ready: ')

  const changed = await cli('scaling', 'set', 'web', '--max', '8')
  expect(changed.stdout).toBe(`deployment/web is scaled by a policy: 2 to 8 replicas ${LINE}\n`)
  const rejected = await cli('scaling', 'set', 'web', '--memory', '60')
  expect([rejected.code, rejected.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('scaling_policy_invalid'),
  ])
  expect(rejected.code).not.toBe(0)
  // The number is stored, and the answer warns that the policy decides.
  expect((await cli('scale', 'web', '3')).stderr).toContain('scaling_policy_active')

  const removed = await cli('scaling', 'delete', 'web')
  expect([removed.code, removed.stdout]).toEqual([
    0,
    'deployment/web has no scaling policy; 3 replicas are desired\n',
  ])
})
