// No secret of the configuration is ever shown, even when the operator wrote the secret in the wrong place.

import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { checkConfig } from './check-config.ts'
import type { FileText } from './resolve-settings.ts'
import { faultLines, load, MINIMAL } from './sample-config.fixture.ts'

const CANARY = 'canary7f3a91'
const files =
  (content: { [path: string]: string }) =>
  (path: string): FileText => {
    const text = content[path]
    return text === undefined ? { kind: 'unreadable', why: 'no such file' } : { kind: 'text', text }
  }
const withFile = MINIMAL.replace('secretId: api-secret', 'secretIdFile: /run/api')

describe('a secret in the configuration', () => {
  const sound = `${MINIMAL.replace('api-secret', CANARY)}`
    .replace('broker-secret', `${CANARY}2`)
    .replace('etcd:\n', `etcd:\n  username: u\n  password: ${CANARY}\n`)

  test('is readable in the configuration and in no printed form of it', () => {
    const loaded = load(sound)
    if (!loaded.ok) throw new Error(faultLines(loaded).join('\n'))
    expect(loaded.config.etcd.password?.reveal()).toBe(CANARY)
    const { text } = checkConfig(loaded)
    expect(text).toMatch(/etcd\.password +<set>/)
    for (const shown of [text, JSON.stringify(loaded), inspect(loaded, { depth: 20 })])
      expect(shown).not.toContain(CANARY)
  })

  test.each([
    `etcd: { password: [${CANARY}] }`,
    `etcd: { password: { a: ${CANARY} } }`,
    `etcd: { password: *${CANARY} }`,
    `etcd: { password: !${CANARY} x }`,
    `etcd: { password: !x ${CANARY} }`,
    `etcd: { password: "${CANARY}\\n" }`,
    `etcd: { password: ${CANARY}, password: ${CANARY}2 }`,
    `etcd: { pasword: ${CANARY} }`,
    `etcd: { password:${CANARY} }`,
    `etcd: { ${CANARY} }`,
    `etcd: { ${CANARY}, ${CANARY} }`,
    `etcd: { password:${CANARY}, password:${CANARY} }`,
    `etcd: { "password ${CANARY}": *x }`,
    `etcd: { password: { ${CANARY}: *x } }`,
    `"password ${CANARY}": !x y`,
    `etcd: ${CANARY}`,
    `etcd: [${CANARY}]`,
    `etcd: { passwordFile: ${CANARY} }`,
    `etcd: { passwordFile: /x, password: ${CANARY} }`,
    `etcd: { endpoints: ["http://u:${CANARY}@h:1"] }`,
    `etcd: { endpoints: "http://u:${CANARY}@h:1" }`,
    `etcd:\n  password:${CANARY}\n`,
    `etcd:\n  root: /hf\n  password:${CANARY}\n`,
    `etcd:\n  password: "${CANARY}\n`,
    `etcd:\n  password: ${CANARY}: x\n`,
    `etcd:\n password: |\n ${CANARY}\n`,
    `secretsStore: { api: ${CANARY} }`,
    `secretsStore: { api: { secretId: [${CANARY}] } }`,
    `secretsStore: { broker: [${CANARY}] }`,
    `secretsStore: { address: "https://u:${CANARY}@h" }`,
    `password: ${CANARY}`,
    `${CANARY}`,
    `- ${CANARY}`,
    `registries: [{ host: "u:${CANARY}@r.example" }]`,
    `registries: [{ host: r.example, password: ${CANARY} }]`,
  ])('does not appear in a fault: %s', (text) => {
    const checked = checkConfig(load(text))
    expect(checked.exitCode).toBe(1)
    expect(checked.text).not.toContain(CANARY)
  })

  test.each([
    ['HOLDFAST_ETCD_PASWORD', CANARY],
    ['HOLDFAST_ETCD_PASSWORD', `${CANARY}\n`],
    ['HOLDFAST_ETCD_PASSWORD_FILE', CANARY],
    ['HOLDFAST_REGISTRIES', `[{"host": "a", "password": "${CANARY}"`],
    ['HOLDFAST_REGISTRIES', `[{"host": "a", "password": "${CANARY}"}]`],
    ['HOLDFAST_SECRETS_STORE_ADDRESS', `https://u:${CANARY}@h`],
    ['HOLDFAST_SECRETS_STORE_API_SECRET_ID', `${CANARY}\u0001`],
  ])('does not appear in a fault: %s', (name, value) => {
    const checked = checkConfig(load(MINIMAL, { env: { [name]: value } }))
    expect(checked.exitCode).toBe(1)
    expect(checked.text).not.toContain(CANARY)
  })

  test('is not shown when its own file is invalid', () => {
    const checked = checkConfig(load(withFile, { readFile: files({ '/run/api': `${CANARY}\nmore\n` }) }))
    expect(checked.exitCode).toBe(1)
    expect(checked.text).not.toContain(CANARY)
  })
})

describe('a quoted value', () => {
  const token = `ghp_${'0123456789abcdefghijABCDEFGHIJ012345'}`
  test.each([
    `nodeName: ${token}`,
    `roles: [${token}]`,
    `roles: { ${token}: 1 }`,
    `metrics: [open, { to: [${token}] }]`,
    `${token}: 1`,
    `residency: { regions: { ${token}: [DE] } }`,
    `limits: { dependsOn: ${token} }`,
  ])('is redacted when it looks like a credential: %s', (text) => {
    const checked = checkConfig(load(`${MINIMAL}${text}\n`))
    expect(checked.exitCode).toBe(1)
    expect(checked.text).not.toContain(token)
  })

  test('has its terminal control characters escaped', () => {
    const added = 'nodeName: "\\e[31mred\\nline"\nresidency: { regions: { "\\e[1m": [] } }\n'
    const { text } = checkConfig(load(`${MINIMAL}${added}`))
    expect(text).toContain('\\u001b[31mred\\nline')
    expect(text).not.toContain('\u001b')
  })
})

describe('a secret file', () => {
  test('is read without the line end that editors add', () => {
    const loaded = load(withFile, { readFile: files({ '/run/api': `${CANARY}\n` }) })
    expect(loaded.ok && loaded.config.secretsStore.api?.secretId.reveal()).toBe(CANARY)
    expect(loaded.ok && loaded.sources.get('secretsStore.api.secretId')).toBe(
      'hf.yaml:5:42 (content of the file)',
    )
  })

  test.each([
    ['does not exist', withFile, files({}), 'file secretsStore.api.secretIdFile @ hf.yaml:5:42'],
    [
      'is empty',
      withFile,
      files({ '/run/api': '\n' }),
      'form secretsStore.api.secretId @ hf.yaml:5:42 (content of the file)',
    ],
    [
      'is not a path',
      withFile.replace('/run', 'run'),
      files({}),
      'form secretsStore.api.secretIdFile @ hf.yaml:5:42',
    ],
    ['cannot be read here', withFile, undefined, 'file secretsStore.api.secretIdFile @ hf.yaml:5:42'],
    [
      'is set next to the secret itself',
      MINIMAL.replace('secretId: api-secret', 'secretId: s, secretIdFile: /run/api'),
      files({ '/run/api': 's' }),
      'conflict secretsStore.api.secretIdFile @ hf.yaml:5:55',
    ],
  ])('that %s is one fault', (_, text, readFile, fault) => {
    expect(faultLines(load(text, readFile === undefined ? {} : { readFile }))).toEqual([fault])
  })

  test('from the environment wins, in either of the two forms', () => {
    const readFile = files({ '/run/api': 'from the file', '/run/other': 'from the other' })
    const secretIdOf = (text: string, env: { [name: string]: string }) => {
      const loaded = load(text, { env, readFile })
      return loaded.ok ? loaded.config.secretsStore.api?.secretId.reveal() : faultLines(loaded)
    }
    expect(secretIdOf(withFile, { HOLDFAST_SECRETS_STORE_API_SECRET_ID: 'direct' })).toBe('direct')
    expect(secretIdOf(MINIMAL, { HOLDFAST_SECRETS_STORE_API_SECRET_ID_FILE: '/run/other' })).toBe(
      'from the other',
    )
    expect(secretIdOf(withFile, { HOLDFAST_SECRETS_STORE_API_SECRET_ID_FILE: '/run/other' })).toBe(
      'from the other',
    )
  })

  test('is a fault when it is an unreadable certificate and files are read', () => {
    const text = MINIMAL.replace('http://127.0.0.1:2379]', 'https://e:2379]\n  tls: { ca: /ca.pem }')
    const registry = `${text}registries: [{ host: a.b, ca: /registry.pem }]\n`
    expect(faultLines(load(registry, { readFile: files({}) }))).toEqual([
      'file etcd.tls.ca @ hf.yaml:3:14',
      'file registries[0].ca @ hf.yaml:8:31',
    ])
    expect(load(registry, { readFile: files({ '/ca.pem': 'pem', '/registry.pem': 'pem' }) }).ok).toBe(true)
    expect(load(registry).ok).toBe(true)
  })
})
