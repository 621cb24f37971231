// The agent's files: keys accessible to the owner only, state that survives a restart, and desired sets that a crash
// cannot truncate.

import { createPublicKey, sign, verify } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deploymentUidOf, type NodeId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { desiredItem, newTenant } from '../fixtures/agent.fixture.ts'
import { openSealed } from '../session/open-sealed.ts'
import { sealFor } from '../session/sealed.fixture.ts'
import { desiredCopy } from '../storage/copies.fixture.ts'
import { openDesiredFile } from './desired-file.ts'
import {
  generateNodeKeys,
  loadNodeState,
  prepareFolder,
  publicKeyText,
  saveClosedBut,
  saveNode,
} from './node-state.ts'
import { countStart } from './start-count.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`
const TENANT = newTenant()
const log = pino({ enabled: false })
const NODE_ID = 'node_01JCPZ0000000000000000000A' as NodeId
const OWNER = { nodeId: NODE_ID, tenant: TENANT }
const unexpected = (error: unknown): never => {
  throw error
}

/** The contents of the node's file after an enrollment. */
const nodeFile = (generation: number) => ({
  server: 'https://holdfast.example.com',
  nodeId: NODE_ID,
  nodeName: 'n1',
  tenant: TENANT,
  generation,
  labels: { zone: 'a' },
  engine: 'unix:///var/run/docker.sock',
  engineVersion: { version: '29.0', apiVersion: '1.56' },
})

test('loads an enrolled node as it was saved, with files accessible to the owner only', async () => {
  const path = join(makeTempFolder('node').path, 'state')
  await prepareFolder(path)
  expect(await loadNodeState(path)).toBeUndefined()
  const keys = generateNodeKeys()
  await saveNode(path, nodeFile(2), keys)
  const read = await loadNodeState(path)
  expect(read).toMatchObject(nodeFile(2))
  if (read === undefined) throw new Error('no node')
  expect(publicKeyText(read.encryptionKey)).toBe(publicKeyText(keys.encryptionKey))
  expect(Buffer.from(publicKeyText(keys.identityKey), 'base64url')).toHaveLength(32)
  const signature = sign(null, Buffer.from('text'), keys.identityKey)
  expect(verify(null, Buffer.from('text'), createPublicKey(read.identityKey), signature)).toBe(true)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600)
})

test('a crash during an enrollment keeps the previous node', async () => {
  const { path } = makeTempFolder('crash')
  const before = generateNodeKeys()
  await saveNode(path, nodeFile(2), before)
  // Makes the replacement of node.json fail, as in a crash: a folder has the name of the temporary file.
  mkdirSync(join(path, 'node.json.new'))
  await expect(saveNode(path, nodeFile(3), generateNodeKeys())).rejects.toThrow()
  const read = await loadNodeState(path)
  expect(read?.generation).toBe(2)
  expect(read && publicKeyText(read.identityKey)).toBe(publicKeyText(before.identityKey))
})

const startAt = async (path: string): Promise<number> => (await countStart(path, log)).number

test('counts the starts of the agent', async () => {
  const { path } = makeTempFolder('starts')
  expect([await startAt(path), await startAt(path), await startAt(path)]).toEqual([1, 2, 3])
  writeFileSync(join(path, 'starts'), '1000000\n')
  expect(await startAt(path)).toBe(1_000_001)
})

test.each(['', '\0\0\0', '3x', '-1', '1e3', '9'.repeat(20)])(
  'does not start with the unreadable count of starts %j, and keeps the file',
  async (text) => {
    const { path } = makeTempFolder('garbled')
    writeFileSync(join(path, 'starts'), text)
    await expect(startAt(path)).rejects.toThrow('write a number into the file')
    expect(readFileSync(join(path, 'starts'), 'utf8')).toBe(text)
  },
)

test('a text sealed to a node is opened only by that node and only if it is unchanged', () => {
  const [mine, other] = [generateNodeKeys(), generateNodeKeys()]
  const sealed = sealFor(publicKeyText(mine.encryptionKey), 'p\u00e4ssword')
  expect(openSealed(mine.encryptionKey, sealed).toString()).toBe('p\u00e4ssword')
  expect(() => openSealed(other.encryptionKey, sealed)).toThrow()
  const bytes = Buffer.from(sealed, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    // Skips the last byte of the public key, because X25519 ignores its top bit.
    if (at === 31) continue
    expect(() => openSealed(mine.encryptionKey, changed.toString('base64url'))).toThrow()
  }
  expect(() => openSealed(mine.encryptionKey, 'AAAA')).toThrow()
})

test('saves the last desired set, and does not write an unchanged one again', async () => {
  const { path } = makeTempFolder('desired')
  const file = openDesiredFile(path, OWNER, unexpected)
  expect(await file.read()).toBeUndefined()
  const items = [desiredItem(IMAGE), desiredItem(IMAGE)]
  for (let revision = 1; revision < 20; revision += 1) file.save({ revision, items: items.slice(0, 1) })
  file.save({ revision: 20, items })
  await file.settled()
  expect(await openDesiredFile(path, OWNER, unexpected).read()).toEqual({ revision: 20, items })
  const { mtimeMs, mode } = statSync(join(path, 'desired.json'))
  file.save({ revision: 21, items })
  await file.settled()
  expect(statSync(join(path, 'desired.json')).mtimeMs).toBe(mtimeMs)
  expect(mode & 0o777).toBe(0o600)
  // After a restore of the store, the agent's next start must compare with the lower revision.
  file.save({ revision: 5, items })
  await file.settled()
  expect(await openDesiredFile(path, OWNER, unexpected).read()).toEqual({ revision: 5, items })
})

test('rejects and reports the saved set of another node or tenant', async () => {
  const { path } = makeTempFolder('foreign')
  const file = openDesiredFile(path, OWNER, unexpected)
  file.save({ revision: 1, items: [desiredItem(IMAGE)] })
  await file.settled()
  const reported: string[] = []
  const others = [
    { ...OWNER, tenant: newTenant() },
    { ...OWNER, nodeId: 'node_01JCPZ0000000000000000000B' as NodeId },
  ]
  for (const other of others)
    expect(await openDesiredFile(path, other, (error) => reported.push(String(error))).read()).toBeUndefined()
  expect(reported).toHaveLength(2)
})

test('reports an unreadable saved set, and ignores a half-written temporary file', async () => {
  const { path } = makeTempFolder('torn')
  const file = openDesiredFile(path, OWNER, unexpected)
  const items = [desiredItem(IMAGE)]
  file.save({ revision: 1, items })
  await file.settled()
  writeFileSync(join(path, 'desired.json.new'), '{"v":1,"revi')
  expect(await file.read()).toEqual({ revision: 1, items })
  const saved = readFileSync(join(path, 'desired.json'), 'utf8')
  writeFileSync(join(path, 'desired.json'), saved.slice(0, saved.length / 2))
  const reported: unknown[] = []
  expect(await openDesiredFile(path, OWNER, (error) => reported.push(error)).read()).toBeUndefined()
  expect(reported).toHaveLength(1)
})

test('reads the saved set of an older agent, whose items name a deployment', async () => {
  const { path } = makeTempFolder('former')
  const item = desiredItem(IMAGE)
  const { owner, ...unowned } = item
  const items = [{ ...unowned, deployment: deploymentUidOf(owner) }]
  const saved = { v: 1, nodeId: NODE_ID, tenant: TENANT, revision: 7, items, routes: [] }
  writeFileSync(join(path, 'desired.json'), JSON.stringify(saved))
  const read = await openDesiredFile(path, OWNER, unexpected).read()
  expect(read).toEqual({ revision: 7, items: [item], routes: [] })
})

test('keeps members of a newer agent when an older agent rewrites its files', async () => {
  const { path } = makeTempFolder('newer')
  const edit = (name: string, change: (content: never) => object) => {
    const file = join(path, name)
    writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')) as never)))
  }
  const read = (name: string) => JSON.parse(readFileSync(join(path, name), 'utf8'))
  const newer = { newer: { deep: [1] } }
  await saveNode(path, nodeFile(2), generateNodeKeys())
  edit('node.json', ({ engineVersion, ...node }: { engineVersion: object }) => ({
    ...node,
    ...newer,
    engineVersion: { ...engineVersion, ...newer },
  }))
  await saveClosedBut(path, ['rep_1'])
  expect(read('node.json')).toMatchObject({ ...newer, engineVersion: newer, closedBut: ['rep_1'] })

  const first = openDesiredFile(path, OWNER, unexpected)
  first.save({ revision: 1, items: [desiredItem(IMAGE)] })
  await first.settled()
  edit('desired.json', ({ items: [item], ...set }: { items: { template: object }[] }) => ({
    ...set,
    ...newer,
    items: [{ ...item, ...newer, template: { ...item?.template, ...newer } }],
  }))
  const file = openDesiredFile(path, OWNER, unexpected)
  const saved = await file.read()
  file.save({ revision: 2, items: [...(saved?.items ?? []), desiredItem(IMAGE)] })
  await file.settled()
  expect(read('desired.json')).toMatchObject({
    revision: 2,
    ...newer,
    items: [{ ...newer, template: newer }, {}],
  })
})

test('a saved set keeps copies of volumes and their peers, and what a newer agent added to a copy', async () => {
  const folder = makeTempFolder('agent').path
  const copy = { ...desiredCopy(), later: 'kept' }
  const peer = { nodeId: NODE_ID, address: '10.0.0.2:7844', publicKeys: ['key'] }
  const file = openDesiredFile(folder, OWNER, unexpected)
  file.save({ revision: 7, items: [], copies: [copy], peers: [peer] })
  await file.settled()
  const again = openDesiredFile(folder, OWNER, unexpected)
  const saved = await again.read()
  expect(saved).toMatchObject({ copies: [{ volume: copy.volume, epoch: 1 }], peers: [peer] })
  again.save({ revision: 8, items: [], copies: saved?.copies ?? [] })
  await again.settled()
  expect(JSON.parse(readFileSync(join(folder, 'desired.json'), 'utf8')).copies).toEqual([copy])
})
