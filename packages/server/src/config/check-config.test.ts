import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkConfig } from './check-config.ts'
import { gatherConfig } from './load-config.ts'
import { load, MINIMAL } from './sample-config.fixture.ts'
import { settingNames } from './settings-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

test('check-config prints a valid configuration with the source of each value', () => {
  const text = `${MINIMAL}registries: [{ host: r.example, tokenRealms: [auth.example] }]\n`
  const checked = checkConfig(load(text, { env: { HOLDFAST_LOG_LEVEL: 'warn' } }))
  const lines = checked.text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
  expect(checked.exitCode).toBe(0)
  expect(lines).toEqual(
    expect.arrayContaining([
      'listen.port 8080 # default',
      'publicUrl http://127.0.0.1:8080 # from listen',
      'roles api, controllers, gateway, broker # default',
      'etcd.endpoints http://127.0.0.1:2379 # hf.yaml:2:14',
      'etcd.password (not set)',
      'secretsStore.api.secretId <set> # hf.yaml:5:38',
      'registries[0].host r.example # hf.yaml:7:22',
      'registries[0].tokenRealms auth.example # hf.yaml:7:46',
      'residency.regions.dach AT, CH, DE # default',
      'reservedNames etcd, holdfast-etcd # default',
      'log.level warn # HOLDFAST_LOG_LEVEL',
    ]),
  )
})

test('check-config prints every setting', () => {
  const { text } = checkConfig(load(MINIMAL))
  const parts = settingNames().filter((name) => name.includes('[]'))
  const shown = settingNames().filter((name) => !parts.includes(name) && name !== 'residency.regions')
  for (const name of shown) expect(text).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')} `, 'm'))
})

test('check-config lists and counts the faults', () => {
  const { exitCode, text } = checkConfig(load(`${MINIMAL}listen: { port: 0 }\nlog: { level: x }\n`))
  expect(exitCode).toBe(1)
  expect(text.trimEnd().split('\n')).toEqual([
    'hf.yaml:7:17: listen.port: received 0, expected a whole number from 1 to 65535',
    'hf.yaml:8:15: log.level: received x, expected one of fatal, error, warn, info, debug, trace',
    '2 faults in the configuration; nothing was started',
  ])
})

test('the configuration file is the given one, or HOLDFAST_CONFIG, or none', () => {
  const file = write('hf.yaml', MINIMAL)
  expect(gatherConfig(file, {}).ok).toBe(true)
  expect(gatherConfig(undefined, { HOLDFAST_CONFIG: file }).ok).toBe(true)
  expect(checkConfig(gatherConfig(undefined, {})).text).toContain('configuration: etcd.endpoints: expected')
})

test('a secret is read from the file that the configuration names', () => {
  const path = write('secret-id', 'from disk\n')
  const file = write('file.yaml', MINIMAL.replace('secretId: api-secret', `secretIdFile: ${path}`))
  const loaded = gatherConfig(file, {})
  expect(loaded.ok && loaded.config.secretsStore.api?.secretId.reveal()).toBe('from disk')
})

test.each([
  ['no such file', () => join(folder, 'absent.yaml')],
  ['it is a directory', () => folder],
  ['it is not UTF-8', () => write('latin.yaml', new Uint8Array([0x61, 0xe9, 0x0a]))],
])('an unreadable configuration file is reported with its cause: %s', (why, name) => {
  expect(checkConfig(gatherConfig(name(), {})).text).toContain(why)
})
