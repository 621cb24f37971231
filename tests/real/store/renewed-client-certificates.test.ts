// A server on an etcd that requires client certificates: they move to another authority while the server writes, and etcd then
// no longer accepts the previous ones.

import { copyFileSync, writeFileSync } from 'node:fs'
import { composeServer, type Server } from '@holdfast/server/compose'
import { loadConfig } from '@holdfast/server/config/load-config'
import {
  LOCAL_NAMES,
  makeCertificateChains,
  startTlsEtcd,
  type TlsEtcd,
  uniqueName,
  waitUntil,
} from '@holdfast/testkit'
import { addTenant } from '@holdfast/testkit/session/session-records'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'

const chains = makeCertificateChains()
const { path, pem } = chains
const logLines: string[] = []
let etcd: TlsEtcd
let server: Server

beforeAll(async () => {
  for (const which of ['old', 'new', 'foreign']) {
    chains.selfSign(`${which}-root`)
    chains.sign(`${which}-client`, `${which}-root`, LOCAL_NAMES)
    chains.sign(`${which}-etcd`, `${which}-root`, LOCAL_NAMES)
  }
  writeFileSync(path('both-roots.crt'), pem('old-root.crt', 'new-root.crt'))
  use('old', 'old-root.crt')
  etcd = await startTlsEtcd(etcdFiles('old', 'both-roots.crt'))
  const loaded = loadConfig({ text: JSON.stringify(settings()), env: {} })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults))
  const log = pino({ base: null }, { write: (line) => logLines.push(line) })
  server = await waitUntil(() => composeServer(loaded.config, log).catch(() => undefined), {
    what: 'etcd answers and the server is composed',
    timeoutMs: 60_000,
  })
})
afterAll(async () => {
  await server.close()
  await etcd.stop()
  chains.remove()
})

const settings = () => ({
  listen: {},
  publicUrl: 'http://127.0.0.1:1',
  etcd: {
    endpoints: [etcd.endpoint],
    root: `/${uniqueName('renewed')}`,
    tls: { ca: path('ca.pem'), cert: path('client.pem'), key: path('client-key.pem') },
  },
  cluster: { key: 'known to this test alone' },
  secretsStore: { address: 'http://127.0.0.1:1', api: { roleId: 'role', secretId: 'id' } },
  roles: ['controllers', 'gateway'],
})

const etcdFiles = (which: string, trusted: string) => ({
  cert: path(`${which}-etcd.crt`),
  key: path(`${which}-etcd.key`),
  trusted: path(trusted),
})

/** Replaces the files that the configuration names. */
function use(which: string, authorities: string): void {
  copyFileSync(path(authorities), path('ca.pem'))
  copyFileSync(path(`${which}-client.crt`), path('client.pem'))
  copyFileSync(path(`${which}-client.key`), path('client-key.pem'))
}

const messages = (): string[] => logLines.filter((line) => line.includes('client certificates'))

test('keeps writing with the previous client certificate if etcd refuses the new one', async () => {
  use('foreign', 'both-roots.crt')
  await server.renewClientCertificates()
  expect(messages().at(-1)).toContain('client certificates not replaced')
  expect(messages().at(-1)).toContain('1 members accept the previous certificates, 0 the new ones')
  await addTenant(server.store)
})

test('writes on with renewed certificates, also after etcd refuses the previous ones', async () => {
  let written = 0
  let isRenewed = false
  const writer = (async () => {
    for (let since = 0; since < 20; since += isRenewed ? 1 : 0) {
      await addTenant(server.store)
      written += 1
    }
  })()
  use('new', 'both-roots.crt')
  await server.renewClientCertificates()
  isRenewed = true
  expect(messages().at(-1)).toContain('client certificates replaced')
  // No write failed: one that fails ends the writer with its error.
  await writer
  expect(written).toBeGreaterThanOrEqual(20)

  await etcd.restart(etcdFiles('new', 'new-root.crt'))
  await waitUntil(() => addTenant(server.store).then(Boolean, () => false), {
    what: 'the server writes to the restarted etcd',
    timeoutMs: 60_000,
  })
  for (let count = 0; count < 20; count += 1) await addTenant(server.store)
  await waitUntil(() => server.store.fresh().then(() => true), { what: 'the watch has resumed' })
})
