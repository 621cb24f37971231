// A platform with its own certificate authority: the CLI connects with the CA file, and explains the error without it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Certificates, makeCertificates } from '@holdfast/testkit'
import { expiredCertificate } from '@holdfast/testkit/cli/expired-certificate'
import { runCli } from '@holdfast/testkit/cli/run-cli'
import { startWirePeer } from '@holdfast/testkit/cli/wire-peer'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

let certificates: Certificates
let platform: Platform
let secure: Replica
let home: string
let odd: Server | undefined

beforeAll(async () => {
  certificates = await makeCertificates()
  platform = await sharedPlatform()
  const tls = { cert: certificates.path('server.crt'), key: certificates.path('server.key') }
  secure = await startReplica(platform, {}, { tls })
  home = mkdtempSync(join(tmpdir(), 'holdfast-cli-tls-'))
})
afterEach(() => void odd?.close())
afterAll(async () => {
  rmSync(home, { recursive: true, force: true })
  await secure.stop()
  await platform.stop()
  certificates.remove()
})

const cli = (words: readonly string[], env: { [name: string]: string } = {}, input = '') =>
  runCli(words, { env: { HOME: home, ...env }, input, cwd: home })
const get = (env: { [name: string]: string }, ...more: string[]) =>
  cli(['get', 'nodes', ...more], {
    HOLDFAST_URL: secure.baseUrl,
    HOLDFAST_TOKEN: platform.acme.token,
    ...env,
  })
const unknown = (url: string) =>
  `error: ${url}: the server's certificate is signed by an unknown authority; use --ca-file to name the authorities to trust\n`

async function serve(cert: string): Promise<string> {
  odd = createServer({ cert, key: certificates.pem('server.key') })
  await new Promise<void>((resolve) => odd?.listen(0, '127.0.0.1', resolve))
  return `https://127.0.0.1:${Object(odd.address()).port}`
}

describe('a private certificate authority', () => {
  test('is trusted by flag or by variable, and not otherwise', async () => {
    const ca = certificates.path('ca.crt')
    const served = { code: 0, stdout: '', stderr: 'no nodes\n' }
    expect(await get({}, '--ca-file', ca)).toEqual(served)
    expect(await get({ HOLDFAST_CA_FILE: ca })).toEqual(served)
    expect(await get({})).toEqual({ code: 7, stdout: '', stderr: unknown(secure.baseUrl) })
  })

  test('is stored by login as an absolute path', async () => {
    writeFileSync(join(home, 'ca.pem'), certificates.pem('ca.crt'))
    const { token } = platform.acme
    const words = ['login', '--url', secure.baseUrl, '--name', 'own', '--token-stdin', '--ca-file', 'ca.pem']
    expect(await cli(words, {}, token)).toMatchObject({ code: 0, stdout: '' })
    expect(readFileSync(join(home, '.config/holdfast/config.yaml'), 'utf8')).toContain(
      `caFile: ${join(home, 'ca.pem')}\n`,
    )
    const elsewhere = await runCli(['get', 'nodes'], { env: { HOME: home }, cwd: '/' })
    expect(elsewhere).toEqual({ code: 0, stdout: '', stderr: 'no nodes\n' })
    expect((await cli(['__complete', '--', 'registry', 'login', ''])).stdout).toContain(platform.registryHost)
  })

  test('is the only one that is trusted', async () => {
    const other = await makeCertificates()
    const usual = { NODE_EXTRA_CA_CERTS: certificates.path('ca.crt') }
    expect(await get(usual)).toMatchObject({ code: 0 })
    const ran = await get({ ...usual, HOLDFAST_CA_FILE: other.path('ca.crt') })
    other.remove()
    expect(ran).toMatchObject({ code: 7, stdout: '' })
    expect(ran.stderr).toMatch(/^error: https:\S+ the server's certificate .*\n$/)
  })

  test('is used for the exec connection too', async () => {
    const tls = { cert: certificates.pem('server.crt'), key: certificates.pem('server.key') }
    const peer = await startWirePeer(tls)
    const env = { HOLDFAST_URL: peer.url, HOLDFAST_CA_FILE: certificates.path('ca.crt') }
    const ran = await cli(['exec', 'web', '--', 'echo', 'inside'], env)
    await peer.stop()
    expect(ran).toEqual({ code: 0, stdout: 'inside\n', stderr: '' })
  })

  test.each([
    ['absent.pem', undefined, 'cannot be read: ENOENT'],
    ['empty.pem', 'nothing', 'contains no certificate in PEM format'],
    [
      'broken.pem',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'contains an invalid certificate',
    ],
  ])('with the CA file %s is a usage error', async (name, text, fault) => {
    if (text !== undefined) writeFileSync(join(home, name), text)
    expect(await get({}, '--ca-file', name)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: the CA file ${name} ${fault}\n`,
    })
  })
})

test('an expired certificate is explained', async () => {
  const url = await serve(await expiredCertificate(certificates))
  expect(await get({ HOLDFAST_URL: url, HOLDFAST_CA_FILE: certificates.path('ca.crt') })).toEqual({
    code: 7,
    stdout: '',
    stderr: `error: ${url}: the server's certificate has expired\n`,
  })
})
