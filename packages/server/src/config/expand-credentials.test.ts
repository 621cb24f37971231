import { expect, test } from 'vitest'
import type { FileText } from './resolve-settings.ts'
import { faultLines, faultsOf, load, MINIMAL } from './sample-config.fixture.ts'

const FOLDER = '/run/credentials/holdfast-server.service'
const FILES: { readonly [path: string]: string } = {
  [`${FOLDER}/cluster-key`]: 'the key\n',
  [`${FOLDER}/registry-ca`]: 'an authority\n',
}
const readFile = (path: string): FileText =>
  FILES[path] === undefined
    ? { kind: 'unreadable', why: 'no such file' }
    : { kind: 'text', text: FILES[path] }
const PREFIX = `\${CREDENTIALS_DIRECTORY}`
const CLUSTER = `${MINIMAL}cluster:\n  keyFile: ${PREFIX}/cluster-key\n`

function configOf(text: string, env: { readonly [name: string]: string }) {
  const loaded = load(text, { env, readFile })
  expect(faultLines(loaded)).toEqual([])
  return loaded.ok ? loaded.config : undefined
}

test('a secret is read from the folder of credentials', () => {
  const config = configOf(CLUSTER, { CREDENTIALS_DIRECTORY: FOLDER })
  expect(config?.cluster?.key?.reveal()).toBe('the key')
  expect(config?.cluster?.keyFile).toBe(`${FOLDER}/cluster-key`)
})

test('paths in lists and in variables are below the folder of credentials too', () => {
  const registry = `registries:\n  - host: r.example\n    ca: ${PREFIX}/registry-ca\n`
  const config = configOf(`${MINIMAL}${registry}`, {
    CREDENTIALS_DIRECTORY: FOLDER,
    HOLDFAST_CLUSTER_KEY_FILE: `${PREFIX}/cluster-key`,
  })
  expect(config?.registries[0]?.ca).toBe(`${FOLDER}/registry-ca`)
  expect(config?.cluster?.key?.reveal()).toBe('the key')
})

test.each([{}, { CREDENTIALS_DIRECTORY: '' }])('a path is a fault without the folder: %j', (env) => {
  const [fault, ...others] = faultsOf(load(CLUSTER, { env, readFile }))
  expect(others).toEqual([])
  expect(fault).toMatchObject({ kind: 'file', field: 'cluster.keyFile', received: `${PREFIX}/cluster-key` })
  expect(fault?.expected).toContain('LoadCredential')
})

test('a file that is missing in the folder is a fault with its whole path', () => {
  const text = CLUSTER.replace('/cluster-key', '/absent')
  const faults = faultsOf(load(text, { env: { CREDENTIALS_DIRECTORY: FOLDER }, readFile }))
  expect(faults).toMatchObject([{ kind: 'file', field: 'cluster.keyFile', received: `${FOLDER}/absent` }])
})

test.each([`\${HOME}/cluster-key`, '$CREDENTIALS_DIRECTORY/cluster-key', `/x/${PREFIX}/cluster-key`])(
  'no other variable is expanded: %s',
  (path) => {
    const env = { CREDENTIALS_DIRECTORY: FOLDER, HOME: '/root' }
    const text = `${MINIMAL}cluster: { keyFile: "${path}" }\n`
    expect(faultsOf(load(text, { env, readFile })).length).toBe(1)
  },
)

test('texts that are no paths are not expanded', () => {
  const text = MINIMAL.replace('secretId: api-secret', `secretId: "${PREFIX}/x"`)
  const config = configOf(text, { CREDENTIALS_DIRECTORY: FOLDER })
  expect(config?.secretsStore.api?.secretId.reveal()).toBe(`${PREFIX}/x`)
})
