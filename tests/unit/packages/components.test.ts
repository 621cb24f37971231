// The bill of materials lists what ships, with the hashes of the lock files.

import { describe, expect, test } from 'vitest'
import { cacheFolder, readGoModules } from '../../../scripts/package/shipped/go-components.ts'
import {
  findLocked,
  nameAt,
  packagePathOf,
  packagesOfBundle,
} from '../../../scripts/package/shipped/npm-components.ts'
import { sbomOf } from '../../../scripts/package/shipped/sbom.ts'
import { purlOf, type Shipped, uniqueShipped } from '../../../scripts/package/shipped/shipped.ts'
import { isUnused } from '../../../scripts/package/bundles/unused-modules.ts'

describe('npm packages of a bundle', () => {
  const output = (inputs: { readonly [path: string]: number }) => ({
    bytes: 0,
    imports: [],
    exports: [],
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }]),
    ),
  })

  test('are those that contribute bytes, each once', () =>
    expect(
      packagesOfBundle({
        outputs: {
          'a.mjs': output({
            'packages/cli/src/main.ts': 10,
            'node_modules/ws/lib/a.js': 5,
            'node_modules/ws/lib/b.js': 5,
            'node_modules/@scope/one/index.js': 1,
            'node_modules/removed/index.js': 0,
          }),
          'b.mjs': output({ 'node_modules/ws/node_modules/inner/c.js': 3 }),
        },
      }),
    ).toEqual(['node_modules/@scope/one', 'node_modules/ws', 'node_modules/ws/node_modules/inner']))

  test('files of the repository belong to none', () =>
    expect(packagePathOf('packages/core/src/index.ts')).toBeUndefined())

  test('are found by name and version where several versions are installed', () => {
    const locked = {
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b/node_modules/a': { version: '2.0.0' },
      'node_modules/not-a': { version: '2.0.0' },
    }
    expect(findLocked(locked, 'a', '2.0.0')).toBe('node_modules/b/node_modules/a')
    expect(() => findLocked(locked, 'a', '3.0.0')).toThrow('package-lock.json has no a 3.0.0')
    expect(nameAt('node_modules/b/node_modules/@scope/a')).toBe('@scope/a')
  })
})

describe('Go modules of an engine', () => {
  const OUTPUT = [
    '/cache/etcd: go1.26.8',
    '\tpath\tgo.etcd.io/etcd/server/v3',
    '\tmod\tgo.etcd.io/etcd/server/v3\tv3.6.16\th1:main=',
    '\tdep\tgithub.com/BurntSushi/toml\tv1.6.0\th1:toml=',
    '\tdep\texample.com/old\tv1.0.0',
    '\t=>\texample.com/fork\tv1.0.1\th1:fork=',
    '\tbuild\t-trimpath=true',
  ].join('\n')

  test('are the standard library, the main module and its dependencies as they were replaced', () =>
    expect(readGoModules(OUTPUT)).toEqual([
      { path: 'stdlib', version: '1.26.8', h1: undefined },
      { path: 'go.etcd.io/etcd/server/v3', version: 'v3.6.16', h1: 'h1:main=' },
      { path: 'github.com/BurntSushi/toml', version: 'v1.6.0', h1: 'h1:toml=' },
      { path: 'example.com/fork', version: 'v1.0.1', h1: 'h1:fork=' },
    ]))

  test('a file that Go did not build is refused', () =>
    expect(() => readGoModules('/bin/ls: not a Go executable')).toThrow('no Go version'))

  test('upper-case letters are encoded in the module cache', () =>
    expect(cacheFolder({ path: 'github.com/BurntSushi/toml', version: 'v1.6.0', h1: undefined })).toBe(
      'github.com/!burnt!sushi/toml@v1.6.0',
    ))
})

describe('the bill of materials', () => {
  const ws: Shipped = {
    ecosystem: 'npm',
    name: '@scope/ws',
    version: '8.0.0',
    licence: 'MIT',
    texts: [],
    integrity: `sha512-${Buffer.from([1, 171]).toString('base64')}`,
    properties: { 'node:openssl': '3.5.0' },
  }
  const toml: Shipped = {
    ecosystem: 'golang',
    name: 'example.com/toml',
    version: 'v1.6.0',
    licence: 'MIT',
    texts: [],
    h1: 'h1:toml=',
  }
  const described = { name: 'holdfast-cli', version: '0.1.0', date: '2026-01-01T00:00:00.000Z' }
  const bom = () => JSON.parse(sbomOf(described, [toml, ws]))

  test('has every component with its hash, licence and place in the package', () => {
    expect(bom()).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { timestamp: described.date, component: { name: 'holdfast-cli', version: '0.1.0' } },
      components: [
        { purl: 'pkg:golang/example.com/toml@v1.6.0', properties: [{ name: 'go:sum', value: 'h1:toml=' }] },
        {
          purl: 'pkg:npm/%40scope/ws@8.0.0',
          hashes: [{ alg: 'SHA-512', content: '01ab' }],
          licenses: [{ expression: 'MIT' }],
          properties: [{ name: 'node:openssl', value: '3.5.0' }],
        },
      ],
      dependencies: [{ dependsOn: [purlOf(toml), purlOf(ws)] }],
    })
  })

  test('is the same text for the same build', () =>
    expect(sbomOf(described, [toml, ws])).toBe(sbomOf(described, [toml, ws])))

  test('refuses a hash of an unknown kind', () =>
    expect(() => sbomOf(described, [{ ...ws, integrity: 'md4-AAAA' }])).toThrow('unknown hash'))

  test('lists a component once and in order', () =>
    expect(uniqueShipped([ws, toml, ws]).map(purlOf)).toEqual([purlOf(toml), purlOf(ws)]))
})

test('unused packages are matched by name, by file and by scope', () => {
  const unused = ['ssh2', '@grpc/*']
  const paths = ['ssh2', 'ssh2/lib/keys', '@grpc/grpc-js', 'ssh2-other', '@grpcx/a', 'ws']
  expect(paths.filter((path) => isUnused(path, unused))).toEqual(['ssh2', 'ssh2/lib/keys', '@grpc/grpc-js'])
})
