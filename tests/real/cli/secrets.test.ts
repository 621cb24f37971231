// Secrets through the CLI: values come from files, stdin and the platform, and no command prints a value.

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { makeTempFolder, sharedSecretsStore } from '@holdfast/testkit'
import { bundledCli, type CliOptions, type CliRun, runCli } from '@holdfast/testkit/cli/run-cli'
import { openScreen } from '@holdfast/testkit/cli/tmux'
import { type SecretsWorld, startSecretsWorld } from '@holdfast/testkit/secrets/secrets-world'
import { createStoreEye, type StoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')
const CANARY = 'canary-b4f1'
const folder = makeTempFolder('cli-secrets')

let world: SecretsWorld
let eye: StoreEye
let seen = ''

beforeAll(async () => {
  world = await startSecretsWorld()
  eye = createStoreEye({ ...(await sharedSecretsStore()), tenant: world.platform.acme.id })
})
afterAll(async () => {
  folder.remove()
  await world.platform.stop()
})

/** Runs the CLI with --verbose and records all output. */
async function cli(words: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const { baseUrl, acme } = world.platform
  const env = { HOLDFAST_URL: baseUrl, HOLDFAST_TOKEN: acme.token }
  const ran = await runCli([...words, '--verbose'], { env, ...options })
  seen += ran.stdout + ran.stderr
  return ran
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder.path, name)
  writeFileSync(path, content)
  return path
}

describe('holdfast secret set', () => {
  test('reads files byte for byte and stdin without its line break, and generates values', async () => {
    const pem = file('key.pem', `${CANARY}\nsecond line\n`)
    const set = ['secret', 'set', 'resources/orders-db', '--from-file', `pem=${pem}`]
    const created = await cli(
      [...set, '--from-stdin', 'password', '--generate', 'salt,pepper', '--length', '30'],
      {
        input: `${CANARY} piped\n`,
      },
    )
    expect(created).toMatchObject({ code: 0, stdout: 'secret/resources/orders-db version 1 written\n' })
    expect(created.stderr).toContain('keys: pem, password, salt, pepper')
    const held = await eye.read('resources/orders-db', 1)
    expect(held).toMatchObject({ pem: `${CANARY}\nsecond line\n`, password: `${CANARY} piped` })
    expect(held['salt']).toMatch(/^[A-Za-z0-9]{30}$/)
    for (const value of Object.values(held)) expect(seen).not.toContain(value)
  })

  test.each<[why: string, words: string[]]>([
    ['name the secret by its namespace and name', ['orders-db', '--generate', 'a']],
    ['is not UTF-8 text', ['resources/x', '--from-file', `a=${file('binary', Uint8Array.of(0xff, 0xfe))}`]],
    ['cannot be read', ['resources/x', '--from-file', 'a=/nonexistent/file']],
    ['expects key=path', ['resources/x', '--from-file', '/some/path']],
    ['stdin is not a terminal; use --from-file or --from-stdin', ['resources/x', '--prompt', 'password']],
    ['is given twice', ['resources/x', '--from-file', `a=${file('a', 'x')}`, '--from-stdin', 'a']],
    ['these options need --generate', ['resources/x', '--length', '40']],
    ['values are not accepted as arguments', ['resources/x', `password=${CANARY}`]],
  ])('is a usage error and sends nothing: %s', async (why, words) => {
    const ran = await cli(['secret', 'set', ...words])
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain(why)
    expect(await eye.numbersOf('resources/x')).toEqual([])
  })

  test('refuses to drop keys without --replace, and --add keeps them', async () => {
    const value = file('value', CANARY)
    const set = (key: string, ...flags: string[]) =>
      cli(['secret', 'set', 'resources/shop-db', '--from-file', `${key}=${value}`, ...flags])
    const absent = await set('password', '--add')
    expect(absent).toMatchObject({ code: 5, stdout: '' })
    expect(absent.stderr).toContain('Write the first version of a secret without --add.')
    expect((await set('password')).code).toBe(0)
    const slip = await set('user')
    expect(slip).toMatchObject({ code: 3, stdout: '' })
    expect(slip.stderr.replace(/\s+/g, ' ')).toContain(
      'secret/resources/shop-db not written. The key password of version 1 is not sent',
    )
    expect(slip.stderr.replace(/\s+/g, ' ')).toContain('Use --add to keep the other keys, or --replace')
    expect(await eye.numbersOf('resources/shop-db')).toHaveLength(1)
    const added = await set('user', '--add')
    expect(added).toMatchObject({ code: 0, stdout: 'secret/resources/shop-db version 2 written\n' })
    expect(added.stderr).toContain('keys: password, user')
    expect(await eye.read('resources/shop-db', 2)).toEqual({ password: CANARY, user: CANARY })
    const replaced = await set('user', '--replace')
    expect(replaced.code).toBe(0)
    expect(replaced.stderr).toContain('warning: The key password of version 2 is not sent')
    expect(await set('user', '--replace', '--add')).toMatchObject({ code: 2, stdout: '' })
    await world.api.delete('/api/v1/secrets/resources/shop-db')
  })

  test('reads a value from a terminal without showing it', async () => {
    const { baseUrl, acme } = world.platform
    const screen = await openScreen({ HOLDFAST_URL: baseUrl, HOLDFAST_TOKEN: acme.token })
    const command = `${NODE} ${await bundledCli()} secret set resources/typed`
    await screen.type(`clear; ${command} --prompt password; echo "rc $?"`)
    await screen.until(/^password:/m)
    await screen.type(CANARY)
    seen += await screen.until('rc 0')
    await screen.end()
    expect(await eye.read('resources/typed', 1)).toEqual({ password: CANARY })
    await world.api.delete('/api/v1/secrets/resources/typed')
  })

  test('prints a rejection of the platform with its code', async () => {
    const empty = await cli(['secret', 'set', 'resources/x'])
    expect(empty).toMatchObject({ code: 3 })
    expect(empty.stderr).toContain('secret_write_empty at values')
    const deep = await cli(['secret', 'set', 'resources/a/b', '--generate', 'k'])
    expect(deep).toMatchObject({ code: 3 })
    expect(deep.stderr).toContain('secret_path_shape at resource')
    const long = file('long', `${CANARY} `.repeat(8000))
    const refused = await cli(['secret', 'set', 'resources/x', '--from-file', `a=${long}`])
    expect(refused.stderr).toContain('secret_value_too_long at values.a')
  })
})

describe('reading and deleting secrets', () => {
  test('list, consumers and delete show and remove them', async () => {
    await world.deploy('shop', ['orders-db', 'to-come'])
    const listed = await cli(['secret', 'list'])
    expect(listed.stdout).toMatch(/resources\/orders-db +1 +\d+s +shop +pem, password, salt, pepper/)
    expect((await cli(['secret', 'list', '-o', 'wide'])).stdout).toContain('1 (shop)')
    expect((await cli(['secret', 'list', '-o', 'name'])).stdout).toBe('secret/resources/orders-db\n')
    expect((await cli(['secret', 'list', '--referenced'])).stdout).toMatch(/resources\/to-come +none +1/)
    const { stdout } = await cli(['secret', 'consumers', 'resources/orders-db'])
    expect(stdout).toMatch(/shop +S0 +resources\/orders-db +external +1/)
    expect((await cli(['secret', 'consumers', 'to-come'])).stdout).toContain('none yet')
    const inUse = await cli(['secret', 'delete', 'resources/orders-db'])
    expect(inUse).toMatchObject({ code: 6, stdout: '' })
    expect(inUse.stderr).toContain('shop')
    await world.api.put('/api/v1/deployments/shop', { secrets: [] })
    expect(await cli(['secret', 'delete', 'secret/resources/orders-db'])).toMatchObject({
      code: 0,
      stdout: 'secret/resources/orders-db deleted\n',
    })
    expect(await cli(['secret', 'delete', 'resources/orders-db'])).toMatchObject({ code: 5 })
  })
})

describe('holdfast secret rotate', () => {
  const rotation = {
    deployment: 'shop',
    secretsVersion: 2,
    credentials: [
      {
        ...{
          secret: 'DB',
          vault_path: 'resources/orders-db',
          phase: 'cutover',
          since: '2026-01-01T00:00:00Z',
        },
        next: ['retire', 'abort'],
        versions: { old: 1, new: 2 },
        consumers: [
          {
            deployment: 'shop',
            pinned: 2,
            proved: false,
            running: [{ version: 1, replicas: 1, since: '2026-01-01T00:00:00Z' }],
          },
          { deployment: 'jobs', pinned: 2, proved: true, running: [] },
        ],
        blockedBy: ['1 replica of shop runs version 1.'],
      },
    ],
  }

  test('sends the requested step, and its table names what blocks the next one', async () => {
    const requests: unknown[] = []
    const peer = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      requests.push([request.method, request.url, body === '' ? undefined : JSON.parse(body)])
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rotation))
    })
    await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
    const { port } = peer.address() as AddressInfo
    const env = { HOLDFAST_URL: `http://127.0.0.1:${port}`, HOLDFAST_TOKEN: 't' }
    const path = '/api/v1/deployments/shop/secrets'
    const shown = await cli(['secret', 'rotation', 'shop'], { env })
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(
      /DB +resources\/orders-db +cutover +1 +2 +shop: 1 on v1; jobs: proved +retire, abort +1 r/,
    )
    const words = [
      'secret',
      'rotate',
      'deployment/shop',
      'stage',
      '--secret',
      'DB',
      '--from-stdin',
      'password',
    ]
    expect((await cli(words, { env, input: CANARY })).code).toBe(0)
    expect((await cli(['secret', 'rotate', 'shop', 'begin'], { env })).code).toBe(2)
    expect(requests).toEqual([
      ['GET', `${path}/rotation`, undefined],
      ['POST', `${path}/rotate`, { phase: 'stage', secret: 'DB', values: { password: CANARY } }],
    ])
    peer.close()
  })
})

test('prints no value anywhere', () => {
  expect(seen).toContain('PUT /api/v1/secrets/resources/orders-db')
  expect(seen).not.toContain(CANARY)
})
