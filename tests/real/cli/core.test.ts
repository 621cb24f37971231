// The CLI against a real platform and against misbehaving servers: contexts, exit codes, and errors in one clear
// sentence.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import { freePort, makeCertificates } from '@holdfast/testkit'
import { bundledCli, runCli } from '@holdfast/testkit/cli/run-cli'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
let home: string
let odd: Server | undefined

beforeAll(async () => {
  platform = await ownPlatform()
  home = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
})
afterAll(async () => {
  rmSync(home, { recursive: true, force: true })
  await platform.stop()
})
afterEach(() => {
  odd?.closeAllConnections()
  odd?.close()
})

const contextsFile = () => join(home, '.config/holdfast/config.yaml')
const cli = (words: readonly string[], env: { [name: string]: string } = {}, input = '') =>
  runCli(words, { env: { HOME: home, ...env }, input })

describe('contexts of the CLI', () => {
  test('login verifies the token, stores it in a private file, and prints it nowhere', async () => {
    const { token } = platform.acme
    const ran = await cli(
      ['login', '--url', platform.baseUrl, '--name', 'acme', '--token-stdin'],
      {},
      `${token}\n`,
    )
    expect(ran).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(
        /^logged in to \S+ as .+ \(tenant-admin of tenant acme\); current context: acme\n$/,
      ),
    })
    expect(statSync(contextsFile()).mode & 0o777).toBe(0o600)
    expect(readFileSync(contextsFile(), 'utf8')).toContain(token)
    const listed = await cli(['context', 'list', '-o', 'json'])
    expect(JSON.parse(listed.stdout)).toEqual({
      items: [{ name: 'acme', current: true, url: platform.baseUrl, tenant: 'acme' }],
    })
    expect(listed.stdout).not.toContain(token)
  })

  test('login does not store a wrong token, and has its own exit code', async () => {
    const ran = await cli(['login', '--url', platform.baseUrl, '--name', 'bad'], {
      HOLDFAST_TOKEN: 'hf_no_such',
    })
    expect(ran).toMatchObject({ code: 7, stdout: '' })
    expect(ran.stderr).toContain('error: unauthenticated')
    expect(readFileSync(contextsFile(), 'utf8')).not.toContain('hf_no_such')
  })

  test('login never stores the token of another context, and an empty variable is an error', async () => {
    const again = ['login', '--url', platform.baseUrl, '--name', 'other']
    for (const input of ['', `${platform.globex.token}\n`])
      expect(await cli(again, {}, input)).toMatchObject({
        code: 2,
        stderr: 'error: no token given; use --token-stdin or HOLDFAST_TOKEN\n',
      })
    for (const words of [again, ['whoami']])
      expect(await cli(words, { HOLDFAST_TOKEN: '' })).toMatchObject({
        code: 2,
        stderr: 'error: HOLDFAST_TOKEN is empty; set it to a token or unset it\n',
      })
    expect(readFileSync(contextsFile(), 'utf8')).not.toContain('other')
  })

  test('whoami and version show the caller and both versions', async () => {
    const shown = await cli(['whoami'])
    expect(shown.stdout).toMatch(/^Tenant: +acme \(\S+\)\nToken: +.+ \(tok_\S+\)\nRole: +tenant-admin\n/)
    expect(shown.stdout).toContain('(context acme)')
    const asJson = await cli(['whoami', '-o', 'json'])
    expect(JSON.parse(asJson.stdout)).toMatchObject({ tenant: { name: 'acme' } })
    const versions = await cli(['version'])
    expect(versions.stdout).toMatch(/^client \d\S+\nserver \d\S+ \(http\S+\)\n$/)
    expect((await runCli(['version', '--client'])).stdout).toMatch(/^client \d\S+\n$/)
  })

  test('use selects a known context', async () => {
    expect(await cli(['context', 'use', 'acme'])).toMatchObject({ code: 0 })
    expect(await cli(['context', 'use', 'acmee'])).toMatchObject({
      code: 5,
      stderr: 'error: there is no context acmee; known contexts: acme\n',
    })
  })

  test('a context file that others may read gives a warning, and a foreign file is rejected', async () => {
    const path = join(home, 'odd.yaml')
    writeFileSync(path, 'contexts: {}\n', { mode: 0o644 })
    const listed = await cli(['get', 'deployments'], {
      HOLDFAST_CONTEXTS_FILE: path,
      HOLDFAST_URL: platform.baseUrl,
    })
    expect(listed.stderr).toContain('is readable by other users; run chmod 600')
    writeFileSync(path, 'contexts: [', { mode: 0o600 })
    expect(await cli(['context', 'list'], { HOLDFAST_CONTEXTS_FILE: path })).toMatchObject({ code: 1 })
  })
})

describe('a usage error', () => {
  test.each([
    [['lgin'], "unknown command 'lgin'\ndid you mean holdfast login?\n"],
    [['context', 'lst'], "unknown command 'lst'\ndid you mean holdfast context list?\n"],
    [['context', 'list', '--ouput', 'json'], "unknown option '--ouput'\n(Did you mean --output?)"],
    [['context', 'list', '-o', 'xml'], 'Allowed choices are table, wide, json, yaml, name'],
    [['login', '--url', 'ftp://x'], 'It must be an address such as https://holdfast.example'],
    [['login'], 'no address given'],
    [['context', 'use'], "missing required argument 'context'"],
  ])('is explained with exit code 2: %j', async (words, message) => {
    const ran = await runCli(words)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain(message)
  })

  test('is reported instead of a prompt when stdin is not a terminal', async () =>
    expect(await runCli(['login', '--url', platform.baseUrl])).toMatchObject({
      code: 2,
      stderr: 'error: no token given; use --token-stdin or HOLDFAST_TOKEN\n',
    }))
})

describe('the CLI explains a server', () => {
  const login = (url: string, more: readonly string[] = [], env: { [name: string]: string } = {}) =>
    cli(['login', '--url', url, ...more], { HOLDFAST_TOKEN: 'hf_canary', ...env })

  async function serve(status: number, type: string, body: string): Promise<string> {
    odd = createServer((_request, response) => {
      if (status === 0) return
      response.writeHead(status, { 'content-type': type }).end(body)
    })
    await new Promise<void>((resolve) => odd?.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(odd.address() as AddressInfo).port}`
  }

  test('that does not listen', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    expect(await login(url)).toEqual({
      code: 7,
      stdout: '',
      stderr: `error: ${url}: connection refused\n`,
    })
  })

  test('behind a proxy that returns its own page', async () => {
    const url = await serve(200, 'text/html', '<html>sign in</html>')
    expect(await login(url)).toMatchObject({
      code: 7,
      stderr: 'error: the response is not from a Holdfast server of this version (text/html) (HTTP 200)\n',
    })
  })

  test('that never answers', async () => {
    const url = await serve(0, '', '')
    expect(await login(url, ['--timeout', '1s'])).toMatchObject({
      code: 7,
      stderr: `error: ${url}: no response within 1 s\n`,
    })
  })

  test('with a certificate of an unknown authority', async () => {
    const certificates = await makeCertificates()
    const secure = createTlsServer({
      cert: certificates.pem('server.crt'),
      key: certificates.pem('server.key'),
    })
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${Object(secure.address()).port}`
    const ran = await login(url)
    secure.close()
    certificates.remove()
    expect(ran).toMatchObject({
      code: 7,
      stderr: `error: ${url}: the server's certificate is signed by an unknown authority; use --ca-file to name the authorities to trust\n`,
    })
  })

  test('that redirects, and does not send it the token', async () => {
    odd = createServer(
      (_request, response) => void response.writeHead(302, { location: platform.baseUrl }).end(),
    )
    await new Promise<void>((resolve) => odd?.listen(0, '127.0.0.1', resolve))
    const ran = await login(`http://127.0.0.1:${(odd.address() as AddressInfo).port}`)
    expect(ran).toMatchObject({ code: 7, stdout: '' })
    expect(ran.stderr.split('\n')).toHaveLength(2)
  })
})

describe('a token', () => {
  test('from the context file is never sent to an address from elsewhere', async () => {
    let seen: string | undefined = ''
    odd = createServer((request, response) => {
      seen = request.headers.authorization
      response.writeHead(500).end()
    })
    await new Promise<void>((resolve) => odd?.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`
    await cli(
      ['login', '--url', platform.baseUrl, '--name', 'acme', '--token-stdin'],
      {},
      platform.acme.token,
    )
    await cli(['get', 'deployments', '--url', url])
    expect(seen).toBeUndefined()
  })
})

describe('output of the CLI', () => {
  const asAcme = () => ({ HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token })
  const get = (...words: string[]) => cli(['get', ...words], asAcme())

  test('is data on stdout and messages on stderr', async () => {
    expect(await get('deployments')).toEqual({ code: 0, stdout: '', stderr: 'no deployments\n' })
    const body = { kind: 'Deployment', name: 'shown', image: platform.image }
    expect((await platform.api(platform.acme.token).post('/api/v1/deployments', body)).status).toBe(201)
    const table = await get('deployments')
    expect(table.stdout).toMatch(
      /^NAME {3}PHASE {3,}READY {2}REVISION {2}IMAGE +AGE {2}REASON\nshown {2}Pending/,
    )
    expect(await get('deployments', '-o', 'name')).toEqual({
      code: 0,
      stdout: 'deployment/shown\n',
      stderr: '',
    })
    expect(JSON.parse((await get('deployment', 'shown', '-o', 'json')).stdout)).toMatchObject(body)
    expect((await get('deployment', 'shown', '-o', 'yaml')).stdout).toContain('name: shown\n')
    expect((await get('deployments', '-o', 'wide')).stdout).toContain('dep_')
  })

  test.each(['nodes', 'routes', 'events', 'registries', 'regions', 'quotas', 'audit'])(
    'lists %s',
    async (kind) => expect(await get(kind)).toMatchObject({ code: 0 }),
  )

  test('lists the regions that a manifest may name, with their countries', async () => {
    expect((await get('regions')).stdout).toMatch(
      /^NAME +ENFORCED +COUNTRIES\n(.*\n)*dach +yes +AT, CH, DE\n/,
    )
    expect(JSON.parse((await get('region', 'dach', '-o', 'json')).stdout)).toEqual({
      name: 'dach',
      countries: ['AT', 'CH', 'DE'],
      enforced: true,
    })
  })

  test('has its own exit code for a missing record', async () => {
    expect(await get('deployment', 'absent')).toMatchObject({ code: 5, stdout: '' })
    expect(await get('registry', 'absent')).toMatchObject({
      code: 5,
      stderr: 'error: there is no registry absent\n',
    })
    expect(await get('tenants')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('permission_denied'),
    })
  })

  test('with --verbose shows each request and never the token', async () => {
    const { stderr, stdout } = await get('deployments', '--verbose')
    expect(stderr).toMatch(/^GET \/api\/v1\/deployments 200 \S+ \d+ms\n$/)
    expect(stderr + stdout).not.toContain(platform.acme.token)
  })

  test('ends quietly when its reader closes the pipe', async () => {
    const command = `"$NODE" "$CLI" get deployments -o json | head -c 1; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], {
      env: {
        ...asAcme(),
        PATH: env.PATH,
        HOME: home,
        NODE: 'node_modules/.bin/node',
        CLI: await bundledCli(),
      },
      encoding: 'utf8',
    })
    expect({ stdout, stderr }).toEqual({ stdout: '{0\n', stderr: '' })
  })

  test('with --watch continues until Ctrl-C, which has its own exit code', async () => {
    const ran = await runCli(['get', 'deployments', '-w'], {
      env: { HOME: home, ...asAcme() },
      onOutput: (_all, interrupt) => interrupt(),
    })
    expect(ran).toMatchObject({ code: 130, stderr: '' })
  })
})
