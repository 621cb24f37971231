// The page about ports lists every listener, with the ports that code and units use by default.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommandLine } from '@holdfast/agent/command/command-line'
import { explainFault } from '@holdfast/server/config/config-fault'
import { loadConfig } from '@holdfast/server/config/load-config'
import { brokerConfig, etcdEnvironment, secretsStoreConfig } from '@holdfast/server/setup/file-contents'
import { planNetwork } from '@holdfast/server/setup/join/network'
import { DEFAULT_PORTS, LOOPBACK } from '@holdfast/server/setup/layout'
import { readSetupRun } from '@holdfast/server/setup/read-setup-run'
import { describe, expect, test } from 'vitest'
import { repositoryFiles } from './texts/repository-files.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
/** The settings come from the environment alone. */
const noFile = (path: string): never => {
  throw new Error(`${path} is not read`)
}
const PAGE = read('docs/guides/ports-and-firewall.md')

const EMPTY = { members: undefined, hasEtcdData: false, etcdEnvironment: undefined }

/** The ports in the first column of a section's table. */
function listed(heading: string): number[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`)
  const [rows = ''] = section.split('\n## ')
  return [...rows.matchAll(/^\| (\d+) \|/gm)].map(([, port]) => Number(port))
}

function agentRun(...options: string[]) {
  const line = readCommandLine(['run', ...options], {})
  if (line.command !== 'run') throw new Error('expected the command run')
  return line
}

const portsOf = (addresses: readonly (string | undefined)[]): number[] =>
  addresses.map((address) => Number(address?.split(':').at(-1)))

describe('the control plane', () => {
  const [, publicUrl = ''] = /setup --single --public-url (\S+)/.exec(read('docs/guides/install.md')) ?? []
  const setup = readSetupRun(
    new Map([
      ['--single', ''],
      ['--public-url', publicUrl],
    ]),
  )
  if (setup.kind !== 'run') throw new Error(setup.why)
  if (setup.run.kind !== 'single') throw new Error('expected the first machine')
  const options = { ...setup.run.options, address: LOOPBACK }

  test('has the ports of the installation guide and of setup', () => {
    expect(listed('Control plane').toSorted()).toEqual(
      [options.listenPort, ...Object.values(DEFAULT_PORTS)].toSorted(),
    )
  })

  test('has the default of the setting listen.port', () => {
    const env = { HOLDFAST_ETCD_ENDPOINTS: 'http://a:1', HOLDFAST_SECRETS_STORE_ADDRESS: 'http://a:2' }
    const loaded = loadConfig({ env, readFile: noFile, identities: 'to be issued' })
    if (!loaded.ok) throw new Error(loaded.faults.map(explainFault).join('\n'))
    expect(PAGE).toContain(`has the default ${loaded.config.listen.port}.`)
  })

  test('listens on loopback, except for the server', () => {
    expect(PAGE).toContain('lets everything but the server listen on `127.0.0.1`')
    const etcd = etcdEnvironment(options, planNetwork(EMPTY, options))
    const contents = [etcd, secretsStoreConfig(options), brokerConfig(options)].join('\n')
    expect(contents).toContain('host: 127.0.0.1')
    expect(contents).not.toContain('0.0.0.0')
  })
})

describe('a node', () => {
  test('has the default ports of the agent, and those of the examples', () => {
    const [, peer = ''] = /--peer-address \S+:(\d+)/.exec(read('scripts/package/package-plan.ts')) ?? []
    const secure = 8082
    const routing = [
      '--routes-tls',
      'acme',
      '--peer-address',
      `a:${peer}`,
      '--secure-peer-address',
      `a:${secure}`,
    ]
    const {
      routing: { caddy },
      peers,
    } = agentRun(...routing, '--agent-peer-address', 'a')
    const opened = [...caddy.listen, caddy.peerListen, caddy.securePeerListen]
    expect(listed('Nodes')).toEqual([...portsOf(opened), peers?.port])
  })

  test('listens only on port 80 without TLS, and on no port for other nodes unless asked', () => {
    const {
      routing: { caddy },
      peers,
    } = agentRun()
    expect(caddy.listen).toEqual([':80'])
    expect([caddy.peerListen, caddy.securePeerListen, peers]).toEqual([undefined, undefined, undefined])
  })

  test('reaches Caddy and Docker by the named sockets', () => {
    const { caddy } = agentRun().routing
    expect(PAGE).toContain(`\`${caddy.adminSocket}\``)
    expect(read('packages/agent/holdfast-caddy.service')).toContain(caddy.adminSocket)
    const enroll = readCommandLine(['enroll', '--server', 'https://a', '--token', 't', '--name', 'n'], {})
    expect(PAGE).toContain(`\`${enroll.command === 'enroll' ? enroll.engine.slice('unix://'.length) : ''}\``)
  })
})

test('no other source of server and agent opens a port', () => {
  const opening = [...repositoryFiles()]
    .filter(([path]) => /^packages\/(server|agent|cli)\/src\/.*(?<!test|fixture)\.ts$/.test(path))
    .filter(([, text]) => /\.listen\(|\bcreateServer\(/.test(text))
  expect(opening.map(([path]) => path).toSorted()).toEqual([
    'packages/agent/src/peer/listen.ts',
    'packages/server/src/api/http-server.ts',
    'packages/server/src/lifecycle/serve.ts',
  ])
})
