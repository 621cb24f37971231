// Backups with the CLI on a real platform: every command, its output for people and for scripts, and completion.

import { type CliOptions, runCli } from '@holdfast/testkit/cli/run-cli'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
  const { image } = platform
  const body = { kind: 'Deployment', name: 'web', image, replicas: 0, environment: { LEVEL: 'info' } }
  await platform.api(platform.acme.token).post('/api/v1/deployments', body)
})
afterAll(() => platform.stop())

function cli(words: readonly string[], options: CliOptions = {}) {
  const env = { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token }
  return runCli(words, { ...options, env: { ...env, ...options.env } })
}

test('a deployment is backed up, changed, deleted and restored', async () => {
  expect((await cli(['backup', 'list'])).stderr).toBe('no backups\n')
  const before = await dumpTenants(platform)
  const planned = await cli(['backup', 'create', 'web', '--dry-run'])
  expect([planned.code, planned.stdout.split('\n')[0]]).toEqual([0, 'deployment/web would be backed up'])
  expect(await dumpTenants(platform)).toEqual(before)

  const created = await cli(['backup', 'create', 'web'])
  const [, id = ''] =
    /^backup\/(bak_\w{26}) created of deployment\/web, revision 1; it has 1 revision, /.exec(
      created.stdout,
    ) ?? ['', '']
  expect(id, created.stdout).not.toBe('')
  expect((await cli(['backup', 'ls'])).stdout).toMatch(new RegExp(`^${id} +web +1 +1 `, 'm'))
  expect((await cli(['get', 'backups', '-o', 'name'])).stdout).toBe(`backup/${id}\n`)
  const listed = JSON.parse((await cli(['backup', 'list', '-o', 'json'])).stdout)
  expect(listed.items).toMatchObject([{ id, deploymentName: 'web', revisionCount: 1 }])
  const described = await cli(['backup', 'describe', `backup/${id}`])
  expect(described.stdout).toMatch(/^Deployment: +web$/m)
  expect(described.stdout).toMatch(/^ {4}LEVEL: info$/m)
  const whole = JSON.parse((await cli(['backup', 'describe', id, '-o', 'json'])).stdout)
  expect(whole).toMatchObject({ id, spec: { environment: { LEVEL: 'info' } }, revisions: [{ revision: 1 }] })

  expect((await cli(['set', 'env', 'web', 'LEVEL=debug'])).code).toBe(0)
  const dry = await cli(['backup', 'restore', id, '--dry-run'])
  expect(dry.stdout.split('\n')[0]).toBe(`deployment/web would be restored from backup/${id}`)
  const restored = await cli(['backup', 'restore', id])
  expect([restored.code, restored.stdout]).toEqual([
    0,
    `deployment/web restored from backup/${id}, as revision 3\n`,
  ])
  expect((await cli(['delete', 'web', '--wait'])).code).toBe(0)
  const again = await cli(['backup', 'restore', id])
  expect(again.stdout).toBe(`deployment/web restored from backup/${id}, as revision 1\n`)

  expect((await cli(['__complete', '--', 'backup', 'restore', 'bak_'])).stdout.trim()).toBe(id)
  const undone = await cli(['backup', 'delete', id, '--dry-run'])
  expect(undone.stdout.split('\n')[0]).toBe(`backup/${id} would be deleted`)
  expect((await cli(['backup', 'delete', id])).stdout).toBe(`backup/${id} deleted\n`)
  const unknown = await cli(['backup', 'describe', id])
  expect(unknown.code).toBe(5)
  expect(unknown.stderr).toContain('backup_not_found')
})

test('-o json of backup create prints the backup for a script', async () => {
  const { code, stdout } = await cli(['backup', 'create', 'web', '-o', 'json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ deploymentName: 'web', id: expect.stringMatching(/^bak_/) })
  expect((await cli(['backup', 'create', 'absent'])).code).toBe(5)
})
