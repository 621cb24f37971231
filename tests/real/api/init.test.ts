// `holdfast-server init` with an operator's token: it creates identities and a first token in an empty secrets store, and
// can be run again.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, makeTempFolder, sharedEtcd, sharedSecretsStore, uniqueName } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, '../../../packages/server/src/main.ts')
const folder = makeTempFolder('init')
const tokenFile = join(folder.path, 'operator-token')
const root = `/${uniqueName('init')}`
let rootToken: string
let address: string

beforeAll(async () => {
  ;({ rootToken, address } = await sharedSecretsStore())
  writeFileSync(tokenFile, `${rootToken}\n`, { mode: 0o600 })
})
afterAll(() => folder.remove())

async function configFile(identities: object, more: object = {}): Promise<string> {
  const file = join(folder.path, `${uniqueName('config')}.json`)
  const { endpoints } = await sharedEtcd()
  const port = await freePort()
  const settings = {
    listen: { host: '127.0.0.1', port },
    etcd: { endpoints, root },
    secretsStore: { address, ...identities },
    ...more,
  }
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 })
  return file
}

function main(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

test('init sets up the secrets store, prints the missing configuration, and may be repeated', {
  timeout: 120_000,
}, async () => {
  const bare = await configFile({})
  const without = await main('init', '--config', bare)
  expect([without.code, without.stdout]).toEqual([1, ''])
  expect(without.stderr).toContain('secretsStore.api')

  const first = await main('init', '--config', bare, '--operator-token-file', tokenFile)
  expect(first.code, first.stderr).toBe(0)
  const printed = JSON.parse(first.stdout)
  expect(printed.token).toMatch(/^hf_/)
  expect(Object.keys(printed.secretsStore)).toEqual(['api', 'broker'])
  for (const what of ['approle', 'policy holdfast-api', 'policy holdfast-broker', 'token role', 'AppRole'])
    expect(first.stderr).toContain(what)
  for (const value of [printed.token, printed.secretsStore.api.secretId, rootToken])
    expect(first.stderr).not.toContain(value)

  // The configuration that `init` printed is valid.
  const complete = await configFile(printed.secretsStore)
  expect((await main('check-config', '--config', complete)).code).toBe(0)
  const again = await main('init', '--config', complete, '--operator-token-file', tokenFile)
  expect([again.code, JSON.parse(again.stdout)]).toEqual([0, {}])
  expect(again.stderr).toContain('exists already')
  const replaced = await main('init', '--config', complete, '--reissue')
  expect(replaced.code, replaced.stderr).toBe(0)
  expect(replaced.stdout).toMatch(/^hf_\S+\n$/)
})

test('init explains a token without permission and a missing file in one sentence', async () => {
  const bare = await configFile({})
  const wrong = join(folder.path, 'wrong-token')
  writeFileSync(wrong, 'hvs.not-a-token')
  const refused = await main('init', '--config', bare, '--operator-token-file', wrong)
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(/^The secrets store rejected the token: .*\n$/)
  const missing = await main('init', '--config', bare, '--operator-token-file', join(folder.path, 'none'))
  expect([missing.code, missing.stdout]).toEqual([1, ''])
  expect(missing.stderr.trim().split('\n')).toHaveLength(1)
  expect((await main('init', '--operator-token-file')).code).toBe(2)
})

test('init adds a namespace that was granted later to the policies of every tenant', {
  timeout: 120_000,
}, async () => {
  const first = await main(
    'init',
    '--config',
    await configFile({}),
    '--operator-token-file',
    tokenFile,
    '--reissue',
  )
  const { secretsStore } = JSON.parse(first.stdout)
  const tenant = /Platform tenant (\S+)\./.exec(first.stderr)?.[1]
  const policy = async (): Promise<string> => {
    const answer = await fetch(`${address}/v1/sys/policies/acl/broker-${tenant}`, {
      headers: { 'x-vault-token': rootToken },
      signal: AbortSignal.timeout(5000),
    })
    return answer.text()
  }
  expect(await policy()).toContain('/data/resources/*')
  expect(await policy()).not.toContain('/data/payments/*')
  const granted = await configFile(secretsStore, {
    secrets: { namespaces: ['deployments', 'resources', 'payments'] },
  })
  const again = await main('init', '--config', granted, '--operator-token-file', tokenFile)
  expect(again.code, again.stderr).toBe(0)
  expect(again.stderr).toContain('mounts and policies of 1 tenants')
  expect(await policy()).toContain('/data/payments/*')
  // A run with the default namespaces restores the default policies, which other tests with this secrets store need.
  const usual = await main(
    'init',
    '--config',
    await configFile(secretsStore),
    '--operator-token-file',
    tokenFile,
  )
  expect(usual.code, usual.stderr).toBe(0)
  expect(await policy()).not.toContain('/data/payments/*')
})
