// Server functions for an operator: health, readiness, metrics, and commands of the server process.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  freePort,
  makeTempFolder,
  sharedEtcd,
  sharedRegistry,
  sharedSecretsStore,
  startEtcd,
  uniqueName,
} from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { provision } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const MAIN = join(ROOT, 'packages/server/src/main.ts')

let platform: Platform
beforeAll(async () => {
  platform = await ownPlatform()
})
afterAll(() => platform.stop())

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(file: string, args: readonly string[], input?: string): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(file, [...args], { cwd: ROOT, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr })
    })
    child.stdin?.end(input ?? '')
  })
}

describe('GET /healthz', () => {
  test('reports connected without authentication', async () => {
    const anybody = createApiClient(platform.baseUrl, undefined)
    const { status, body } = await anybody.get('/healthz')
    expect([status, body]).toEqual([200, { status: 'ok', keyValueStore: 'connected' }])
    expect((await anybody.get('/readyz')).body).toEqual({ ready: true })
  })

  test.each(['/healthz', '/readyz', '/docs/'])(
    'HEAD %s returns the headers of GET without authentication and without a body',
    async (path) => {
      const [got, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => fetch(`${platform.baseUrl}${path}`, { method })),
      )
      const [whole, nothing] = [await got?.text(), await head?.text()]
      expect([head?.status, head?.headers.get('content-type')]).toEqual([
        got?.status,
        got?.headers.get('content-type'),
      ])
      expect([head?.headers.get('content-length'), nothing]).toEqual([
        `${Buffer.byteLength(whole ?? '')}`,
        '',
      ])
    },
  )

  test('reports disconnected while etcd is paused or gone, and connected again afterwards', {
    timeout: 120_000,
  }, async () => {
    const etcd = await startEtcd()
    const [member] = etcd.members
    if (member === undefined) throw new Error('no member')
    const own = await startPlatform({ endpoints: etcd.endpoints })
    const anybody = createApiClient(own.baseUrl, undefined)
    const isBack = () =>
      expect.poll(async () => (await anybody.get('/readyz')).status, { timeout: 30_000 }).toBe(200)
    const expectAway = async () => {
      // etcd stays away until they are answered, so a probe without a deadline would answer nothing.
      const answers = await Promise.all(['/healthz', '/readyz', '/healthz'].map((path) => anybody.get(path)))
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
      expect(answers[0]?.body).toEqual({ status: 'degraded', keyValueStore: 'disconnected' })
      expect(answers[1]?.body).toEqual({ ready: false })
    }
    member.pause()
    await expectAway()
    member.resume()
    await isBack()
    await member.kill()
    await expectAway()
    await member.restart()
    await isBack()
    expect((await anybody.get('/healthz')).status).toBe(200)
    await own.stop()
    await etcd.stop()
  })
})

describe('metrics', () => {
  test('are for the platform only unless configuration opens them', async () => {
    expect((await createApiClient(platform.baseUrl, undefined).get('/metrics')).codes).toEqual([
      'unauthenticated',
    ])
    expect((await platform.api(platform.acme.token).get('/metrics')).codes).toEqual(['permission_denied'])
    const open = await ownPlatform({ settings: { metrics: { open: true } } })
    expect((await createApiClient(open.baseUrl, undefined).get('/metrics')).status).toBe(200)
    await open.stop()
  })

  test('pass promtool, and count requests and rejections', async () => {
    const acme = platform.api(platform.acme.token)
    await acme.post('/api/v1/deployments', { kind: 'Job' })
    await acme.get('/api/v1/deployments')
    const { text, headers } = await platform.api().get('/metrics')
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    const checked = await run('promtool', ['check', 'metrics'], text)
    expect(checked.stdout + checked.stderr).toBe('')
    expect(checked.code).toBe(0)
    expect(text).toMatch(/^holdfast_rejections_total\{code="manifest_wrong_kind"\} 1$/m)
    expect(text).toMatch(
      /^holdfast_api_request_duration_seconds_count\{route="\/api\/v1\/deployments",method="GET",status="200"\} 1$/m,
    )
    expect(text).toMatch(/^holdfast_volumes\{phase="Lost"\} 0$/m)
    expect(text).toMatch(/^holdfast_volume_replicas\{state="lagging"\} 0$/m)
    for (const name of [
      'volume_copies_missing',
      'volumes_unprotected',
      'volumes_fenced',
      'volume_divergences',
    ])
      expect(text).toMatch(new RegExp(`^holdfast_${name} 0$`, 'm'))
    expect(text).toMatch(/^holdfast_volume_promotions\{cause="forced"\} 0$/m)
    expect(text).toMatch(/^holdfast_pool_bytes\{kind="used"\} \d+$/m)
    expect(text).not.toContain(platform.acme.id)
  })
})

describe('responses', () => {
  test('carry a unique request id, which the log line has too', async () => {
    const answers = await Promise.all([1, 2].map(() => platform.api().get('/api/v1/quotas')))
    const ids = answers.map(({ headers }) => headers.get('x-request-id') ?? '')
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) {
      expect(id).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
      await expect.poll(() => platform.logLines.some((line) => line.includes(id))).toBe(true)
    }
  })

  test('are logged as JSON with method, route, status, tenant and token id, without the secret part of the token', async () => {
    const secretHalf = platform.acme.token.split('_').slice(2).join('_')
    await platform.api(platform.acme.token).get('/api/v1/deployments')
    await expect
      .poll(() => platform.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request'))
      .toContainEqual(
        expect.objectContaining({
          method: 'GET',
          route: '/api/v1/deployments',
          status: 200,
          tenant: platform.acme.id,
          token: `tok_${platform.acme.token.split('_')[1]}`,
        }),
      )
    expect(platform.logLines.join('')).not.toContain(secretHalf)
  })
})

describe('the server process', () => {
  const folder = makeTempFolder('server')
  const file = join(folder.path, 'server.yaml')
  let baseUrl: string
  let server: ChildProcess | undefined

  beforeAll(async () => {
    const [etcd, secrets, registry] = await Promise.all([
      sharedEtcd(),
      sharedSecretsStore(),
      sharedRegistry(),
    ])
    const port = await freePort()
    baseUrl = `http://127.0.0.1:${port}`
    const settings = {
      listen: { host: '127.0.0.1', port, drainSeconds: 2 },
      publicUrl: baseUrl,
      etcd: { endpoints: etcd.endpoints, root: `/${uniqueName('process')}` },
      secretsStore: { address: secrets.address, ...(await provision(secrets.address, secrets.rootToken)) },
      registries: [{ host: registry.host, plainHttp: true, allowAddress: true }],
    }
    writeFileSync(file, JSON.stringify(settings), { mode: 0o600 })
  })
  afterAll(() => {
    server?.kill('SIGKILL')
    folder.remove()
  })

  const main = (...args: string[]) => run(process.execPath, [MAIN, ...args])

  test('check-config accepts a valid file and lists every fault of an invalid one at once', async () => {
    expect((await main('check-config', '--config', file)).code).toBe(0)
    const wrong = join(folder.path, 'wrong.yaml')
    writeFileSync(wrong, 'publicUrl: nowhere\nlisten: {port: 0}\ncolour: red\netcd: {endpoints: []}\n')
    const { code, stdout, stderr } = await main('check-config', '--config', wrong)
    expect(code).toBe(1)
    for (const name of ['publicUrl', 'listen.port', 'colour', 'etcd.endpoints', 'secretsStore'])
      expect(stdout + stderr).toContain(name)
    expect((await main('check-config', '--config', join(folder.path, 'none.yaml'))).code).toBe(1)
  })

  test('lists the known commands when one is unknown, and prints help with exit code 0', async () => {
    const { code, stdout, stderr } = await main('dance')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(
      /^There is no command "dance"; accepted: serve, init, .*\. All of it: holdfast-server --help\n$/,
    )
    const help = await main('--help')
    expect([help.code, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toContain('holdfast-server init')
  })

  test('init prints one token once, and --reissue revokes it and prints another', {
    timeout: 120_000,
  }, async () => {
    const first = await main('init', '--config', file)
    expect(first.code, first.stderr).toBe(0)
    expect(first.stdout).toMatch(/^hf_[0-9A-HJKMNP-TV-Z]{26}_[A-Za-z0-9_-]{43}\n$/)
    const again = await main('init', '--config', file)
    expect([again.code, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toContain('--reissue')
    server = spawn(process.execPath, [MAIN, 'serve', '--config', file], { stdio: ['ignore', 'pipe', 'pipe'] })
    await expect
      .poll(
        () =>
          fetch(`${baseUrl}/readyz`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBe(200)
    const old = createApiClient(baseUrl, first.stdout.trim())
    expect((await old.get('/api/v1/tenants')).status).toBe(200)
    const { stdout: issued } = await main('init', '--reissue', '--config', file)
    expect((await old.get('/api/v1/tenants')).codes).toEqual(['unauthenticated'])
    const { body } = await createApiClient(baseUrl, issued.trim()).get('/api/v1/audit?sort=oldest')
    const actions = Object.values(Object(body['items'])).map((entry) => Object(entry).action)
    expect(actions).toEqual(['platform:init', 'tokens:reissue'])
  })

  test('reloads its configuration at SIGHUP and keeps serving', async () => {
    if (server?.stdout == null) throw new Error('it does not run')
    let output = ''
    server.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    server.kill('SIGHUP')
    await expect.poll(() => output).toContain('configuration reloaded')
    expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200)
  })

  test('drains on SIGTERM: readiness fails first, requests are still served, and the exit code is 0', async () => {
    if (server === undefined) throw new Error('it does not run')
    const gone = once(server, 'exit')
    server.kill('SIGTERM')
    await expect.poll(() => fetch(`${baseUrl}/readyz`).then(({ status }) => status)).toBe(503)
    const served = await fetch(`${baseUrl}/healthz`)
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close'])
    expect(await gone).toEqual([0, null])
  })

  test('fails to start with an explanation while etcd is unavailable', { timeout: 180_000 }, async () => {
    const lost = join(folder.path, 'lost.yaml')
    const port = await freePort()
    const text = JSON.stringify({
      publicUrl: baseUrl,
      etcd: { endpoints: [`http://127.0.0.1:${port}`] },
      secretsStore: { address: 'http://127.0.0.1:1', api: identity('api'), broker: identity('broker') },
    })
    writeFileSync(lost, text, { mode: 0o600 })
    for (const command of ['init', 'serve']) {
      const { code, stdout, stderr } = await main(command, '--config', lost)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^The key-value store returned an error: .*etcd.*\n$/)
    }
  })
})

const identity = (who: string) => ({ roleId: `role-${who}`, secretId: 'made-up' })
