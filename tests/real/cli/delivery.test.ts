// The released CLI: a package that installs and runs, completion with live names, and help.

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import { COMMANDS } from '@holdfast/cli/commands/index'
import { makeTempFolder, type TempFolder } from '@holdfast/testkit'
import { bundledCli, runCli } from '@holdfast/testkit/cli/run-cli'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')
const run = promisify(execFile)

let platform: Platform
let folder: TempFolder
beforeAll(async () => {
  platform = await startPlatform()
  folder = makeTempFolder('delivery')
})
afterAll(async () => {
  folder.remove()
  await platform.stop()
})
const asAcme = () => ({ HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token })

describe('the CLI package', () => {
  test('installs from its file alone and runs', async () => {
    const built = dirname(await bundledCli())
    const target = join(folder.path, 'installed')
    mkdirSync(target)
    const { stdout } = await run('npm', ['pack', built, '--pack-destination', folder.path, '--silent'])
    const file = join(folder.path, stdout.trim().split('\n').at(-1) ?? '')
    await run('npm', ['install', '--prefix', target, '--offline', '--no-audit', '--no-fund', file], {
      cwd: target,
    })
    expect(readdirSync(join(target, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@holdfast',
    ])
    const installed = join(target, 'node_modules/.bin/holdfast')
    const explained = await run(NODE, [installed, 'explain', 'image_required'], {
      env: { HOME: folder.path },
    })
    expect(explained.stdout).toContain('image_required')
  })
})

describe('completion', () => {
  const complete = async (...typed: string[]) =>
    (await runCli(['__complete', '--', ...typed], { env: asAcme() })).stdout
      .split('\n')
      .filter((word) => word !== '')

  test('offers existing names', async () => {
    const body = { kind: 'Deployment', name: 'live-one', image: platform.image }
    await platform.api(platform.acme.token).post('/api/v1/deployments', body)
    expect(await complete('describe', 'li')).toEqual(['live-one'])
    expect(await complete('registry', 'login', '')).toEqual([platform.registryHost])
    expect(await complete('rol')).toEqual(['rollout'])
    expect(
      await runCli(['__complete', '--', 'describe', ''], { env: { HOLDFAST_URL: 'http://127.0.0.1:1' } }),
    ).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
  })

  test('works in a real bash', async () => {
    const { stdout: script } = await runCli(['completion', 'bash'])
    const cli = await bundledCli()
    const text = `holdfast() { "${NODE}" "${cli}" "$@"; }\n${script}\nCOMP_WORDS=(holdfast node un); COMP_CWORD=2; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await run('bash', ['-c', text], {
      env: { ...asAcme(), PATH: env.PATH ?? '', HOME: folder.path },
    })
    expect(stdout).toBe('uncordon\n')
  })

  test.each(['zsh', 'fish'])('has a script for %s', async (shell) =>
    expect(await runCli(['completion', shell])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('__complete'),
    }),
  )
})

describe('help', () => {
  test('lists every command, and each has a page with examples', async () => {
    const { code, stdout } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const { name } of COMMANDS) expect(stdout).toContain(`  ${name.split(' ')[0]} `)
    for (const name of ['apply', 'rollout undo', 'node drain']) {
      const page = await runCli([...name.split(' '), '--help'])
      expect(page).toMatchObject({ code: 0, stderr: '' })
      expect(page.stdout).toMatch(/Examples:\n {2}holdfast /)
      expect(page.stdout).toContain('--verbose')
      expect(await runCli(['help', ...name.split(' ')])).toEqual(page)
    }
  })

  test('runs no command, and suggests the nearest known one', async () => {
    expect((await runCli(['help'])).stdout).toBe((await runCli(['--help'])).stdout)
    expect((await runCli(['help', 'rollout'])).stdout).toMatch(/^Usage: holdfast rollout /)
    expect((await runCli(['help', 'delete', 'web'])).stdout).toMatch(/^Usage: holdfast delete /)
    expect(await runCli(['help', 'aply'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: "error: unknown command 'aply'\ndid you mean holdfast apply?\n",
    })
    expect(await runCli(['help', 'rollout', 'und'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: "error: unknown command 'und'\ndid you mean holdfast rollout undo?\n",
    })
  })
})

describe('administration with the CLI', () => {
  test('manages tenants and tokens', async () => {
    const admin = { env: { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.platformToken } }
    const made = await runCli(['tenant', 'create', 'initech'], admin)
    const [, id = ''] = /^tenant\/(\S+) created\n$/.exec(made.stdout) ?? []
    expect(await runCli(['tenant', 'create', 'initech'], admin)).toMatchObject({ code: 6, stdout: '' })
    expect(await runCli(['tenant', 'quota', id, 'nodes=3'], admin)).toMatchObject({ code: 0 })
    expect(await runCli(['tenant', 'quota', 'initech', 'nodes=4'], admin)).toMatchObject({ code: 0 })
    expect(await runCli(['tenant', 'quota', id, 'nodes'], admin)).toMatchObject({ code: 2 })
    const issued = await runCli(['token', 'create', 'ci', '--role', 'viewer', '--tenant', 'initech'], admin)
    expect(issued.stdout).toMatch(/^hf_\S+\n$/)
    expect(issued.stderr).toContain('(viewer of tenant initech) issued')
    const own = { env: { ...admin.env, HOLDFAST_TOKEN: issued.stdout.trim() } }
    expect((await runCli(['token', 'list', '-o', 'name'], own)).stdout).toMatch(/^token\/tok_\S+\n$/)
    expect(await runCli(['get', 'quotas', '--tenant', 'nowhere'], admin)).toMatchObject({ code: 5 })
    const listed = await runCli(['token', 'list', '--tenant', id, '-o', 'name'], admin)
    expect(listed.stdout).toMatch(/^token\/tok_\S+\n$/)
    const revoke = (token: string) => runCli(['token', 'revoke', token, '--tenant', 'initech'], admin)
    expect(await revoke('no-such-token')).toMatchObject({ code: 5 })
    expect(await revoke('ci')).toMatchObject({ code: 0, stdout: `${listed.stdout.trim()} revoked\n` })
    expect((await runCli(['get', 'tenants', '-o', 'name'], admin)).stdout).toContain(`tenant/${id}\n`)
    expect(await runCli(['tenant', 'remove', 'initech'], admin)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('stdin is not a terminal; use --yes to remove tenant initech'),
    })
    expect(await runCli(['tenant', 'remove', 'initech', '--yes'], admin)).toMatchObject({ code: 0 })
  })
})
