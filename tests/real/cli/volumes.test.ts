// Volumes with the CLI on a real platform: the commands, manifests of kind Volume, and deployments that mount them by
// name. The agents are scripted: they report each desired copy as done, or nothing.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CliOptions, runCli } from '@holdfast/testkit/cli/run-cli'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import {
  enrollVolumeNode,
  obey,
  openVolumeAgent,
  type VolumeAgent,
} from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const POOL = 100 * 1024 ** 3

let platform: Platform
let folder: string
const agents: VolumeAgent[] = []

beforeAll(async () => {
  const roles = ['api', 'broker', 'gateway', 'controllers']
  platform = await ownPlatform({ settings: { volumes: { enabled: true }, roles } })
  const api = platform.api(platform.acme.token)
  for (const name of ['n1', 'n2', 'n3']) {
    const node = await enrollVolumeNode(platform.baseUrl, api, name)
    agents.push(await openVolumeAgent(platform.baseUrl, node, { poolBytes: POOL }))
  }
  folder = mkdtempSync(join(tmpdir(), 'holdfast-volumes-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const agent of agents) agent.close()
  await platform.stop()
})

function cli(words: readonly string[], options: CliOptions = {}) {
  const env = { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token }
  return runCli(words, { ...options, env: { ...env, ...options.env } })
}

/** While `work` runs, agents report nothing about their copies. */
async function withSilentAgents(work: () => Promise<void>): Promise<void> {
  for (const agent of agents) agent.behave(() => undefined)
  try {
    await work()
  } finally {
    for (const agent of agents) agent.behave(obey)
  }
}

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const volume = (name: string, more = 'size: 1Gi\nreplicas: 1\n') =>
  `kind: Volume\nname: ${name}\nclass: replicated\n${more}`
const consumer = (name: string, mounted: string) =>
  `kind: Deployment\nname: ${name}\nimage: ${platform.image}\nreplicas: 0\nvolumes:\n  - { volume: ${mounted}, target: /data, type: volume, readOnly: false }\n`

test('a volume is created, listed, described, resized, copied and deleted', async () => {
  const planned = await cli(['volume', 'create', 'data', '--size', '1Gi', '--node', 'n2', '--dry-run'])
  expect(planned.stdout).toBe('volume/data would be created\n  primary on n2\n')
  expect((await cli(['volume', 'list'])).stderr).toBe('no volumes\n')
  const created = await cli(['volume', 'create', 'data', '--size', '1Gi', '--node', 'n2', '--wait'])
  expect([created.code, created.stdout]).toEqual([0, 'volume/data created\nvolume/data ready\n'])
  expect(created.stderr).toContain('data: Ready, primary on n2, 1 of 1 copies current')
  expect((await cli(['volume', 'list'])).stdout).toMatch(
    /^data +Ready +replicated +1GiB +4KiB \(1%\) +1\/1 +n2 /m,
  )
  const resized = await cli(['volume', 'resize', 'data', '2Gi', '--wait'])
  expect(resized.stdout).toBe('volume/data resized from 1GiB to 2GiB\nvolume/data ready\n')
  await withSilentAgents(async () => {
    const added = await cli(['volume', 'replica', 'add', 'data', 'n1'])
    expect(added.stdout).toBe('volume/data gets a copy on n1; it has 1 replica now\n')
    const described = await cli(['describe', 'volume', 'data'])
    expect(described.stdout).toMatch(/^In use: +4KiB of 2GiB \(1%\), measured \d+d ago$/m)
    // Checkpoint and age are known as soon as the last measurement, which is kept for a while, is repeated.
    expect(described.stdout).toMatch(/^ {2}n1 +replica +seeding +\S+ +\S+ +no$/m)
    expect((await cli(['volume', 'describe', 'data'])).stdout).toMatch(/^ {2}n1 +replica +seeding /m)
    const promoted = await cli(['volume', 'promote', 'data', '--dry-run'])
    expect([promoted.code, promoted.stderr]).toEqual([6, expect.stringContaining('volume_primary_mismatch')])
  })
  const primary = await cli(['volume', 'replica', 'remove', 'data', 'n2'])
  expect([primary.code, primary.stderr]).toEqual([5, expect.stringContaining('n2 holds the primary of data')])
  const removed = await cli(['volume', 'replica', 'remove', 'data', 'n1', '-o', 'name'])
  expect(removed.stdout).toBe('volume/data\n')
  const lost = await cli(['volume', 'delete', 'data', '--dry-run'])
  expect(lost.stdout).toContain('Effects: 1 volume loses its data.')
  const deleted = await cli(['volume', 'delete', 'data', '--wait'])
  expect(deleted.stdout).toBe('volume/data deleting\nvolume/data deleted\n')
  const absent = await cli(['describe', 'volume', 'data'])
  expect([absent.code, absent.stderr]).toEqual([5, expect.stringContaining('volume_not_found at id')])
})

test('a recommendation that does not exist is not applied', async () => {
  expect((await cli(['volume', 'recommendations', '-o', 'json'])).code).toBe(0)
  const id = 'rec_5f0c2a9be1d34c77a1b2c3d4e5'
  const absent = await cli(['volume', 'recommendations', 'apply', id, '--dry-run'])
  expect([absent.code, absent.stderr]).toEqual([5, expect.stringContaining('recommendation_not_found')])
})

test('a volume that fits on no node is explained by create and by why', async () => {
  const created = await cli(['volume', 'create', 'huge', '--size', '80Gi', '--wait', '--wait-timeout', '1s'])
  expect([created.code, created.stdout]).toEqual([4, 'volume/huge created\nvolume/huge not ready\n'])
  expect(created.stderr).toMatch(/^ {2}n1 +insufficient_storage +freeBytes: 160GiB/m)
  const why = await cli(['why', 'volume', 'huge'])
  expect(why.stdout).toContain('0 of 3 nodes fit: 3 with insufficient storage.')
  expect(JSON.parse((await cli(['why', 'volume/huge', '-o', 'json'])).stdout)).toMatchObject({
    phase: 'Pending',
  })
  expect((await cli(['delete', 'volume/huge'])).stdout).toBe('volume/huge deleting\n')
})

test('apply creates a volume, waits for it, and then sends what mounts it; delete does the opposite', async () => {
  const path = write('db.yaml', `${consumer('db', 'pg')}---\n${volume('pg', 'size: 1Gi\nnode: n3\n')}`)
  expect((await cli(['validate', '-f', path])).stdout).toBe('deployment/db valid\nvolume/pg valid\n')
  const before = await dumpTenants(platform)
  const planned = await cli(['apply', '-f', path, '--dry-run'])
  expect(planned.stdout).toContain(
    'volume/pg would be created\n  primary on n3\ndeployment/db would be created',
  )
  expect(planned.stderr).toContain('note: the mount of volume pg is left out of this plan')
  expect(await dumpTenants(platform)).toEqual(before)
  const applied = await cli(['apply', '-f', path, '--wait'])
  expect([applied.code, applied.stdout]).toEqual([
    0,
    'volume/pg created\ndeployment/db created\nvolume/pg ready\ndeployment/db stopped\n',
  ])
  const api = platform.api(platform.acme.token)
  const [mount] = Object((await api.get('/api/v1/deployments/db')).body['volumes'])
  expect(mount.volume).toMatch(/^vol_/)
  expect(await cli(['apply', '-f', path])).toMatchObject({
    code: 0,
    stdout: 'volume/pg unchanged\ndeployment/db unchanged\n',
    stderr: '2 unchanged\n',
  })
  expect((await cli(['diff', '-f', path, '--exit-code'])).code).toBe(0)
  const inUse = await cli(['volume', 'delete', 'pg'])
  expect([inUse.code, inUse.stderr]).toEqual([6, expect.stringContaining('volume_in_use')])
  expect((await cli(['delete', '-f', path, '--dry-run'])).stdout).toContain(
    'volume/pg would be deleted after db\n',
  )
  const deleted = await cli(['delete', '-f', path, '--wait'])
  expect([deleted.code, deleted.stdout]).toEqual([
    0,
    'deployment/db deleting\nvolume/pg deleting\ndeployment/db deleted\nvolume/pg deleted\n',
  ])
})

test('apply changes size and copies, and rejects changes of class and node at their lines', async () => {
  const path = write('files.yaml', volume('files', 'size: 1Gi\n'))
  expect((await cli(['apply', '-f', path, '--wait'])).code).toBe(0)
  write('files.yaml', volume('files', 'size: 2Gi\nreplicas: 1\n'))
  const difference = await cli(['diff', '-f', path, '--exit-code'])
  expect([difference.code, difference.stdout]).toEqual([
    1,
    expect.stringContaining('+ sizeBytes: 2147483648 # 2Gi'),
  ])
  const changed = await cli(['apply', '-f', path])
  expect([changed.stdout, changed.stderr]).toEqual([
    'volume/files configured\n',
    '  changed: size, replicas\n',
  ])
  write('files.yaml', volume('files', 'size: 2Gi\n'))
  const kept = await cli(['apply', '-f', path])
  expect([kept.stdout, kept.stderr]).toEqual([
    'volume/files unchanged\n',
    '  kept: replicas keeps its stored value, because the manifest does not mention it\n',
  ])
  write('files.yaml', 'kind: Volume\nname: files\nclass: ephemeral\nsize: 2Gi\nnode: elsewhere\n')
  const rejected = await cli(['apply', '-f', path])
  expect(rejected.code).toBe(3)
  expect(rejected.stderr).toContain(`${path}:3:8: volume_spec_invalid at class`)
  expect(rejected.stderr).toContain('The class of a volume cannot be changed.')
  expect(rejected.stderr).toContain(`${path}:5:7: volume_spec_invalid at node`)
})

test('a fault in one document stores nothing, and an unknown volume is named at its line', async () => {
  const path = write(
    'wrong.yaml',
    `${volume('fine')}---\n${consumer('app', 'fnie')}---\n${volume('small', 'size: 1Mi\n')}`,
  )
  const before = await dumpTenants(platform)
  const rejected = await cli(['apply', '-f', path])
  expect(rejected.code).toBe(3)
  expect(rejected.stderr).toContain(`${path}:12:15: volume_not_found at volumes[0].volume`)
  expect(rejected.stderr).toContain(`${path}:17:7: volume_spec_invalid at size`)
  expect(rejected.stderr).toContain('2 of 3 documents were rejected with 2 errors; nothing was stored')
  expect(await dumpTenants(platform)).toEqual(before)
})

test('a deployment is not sent while its volume is not Ready in time', async () => {
  const path = write('slow.yaml', `${volume('slow')}---\n${consumer('late', 'slow')}`)
  await withSilentAgents(async () => {
    const applied = await cli(['apply', '-f', path, '--wait-timeout', '1s'])
    expect([applied.code, applied.stdout]).toEqual([4, 'volume/slow created\n'])
    expect(applied.stderr).toContain('late was not applied, because it mounts slow')
    expect(applied.stderr).toContain('1 created, 1 not applied')
  })
  expect((await cli(['get', 'deployment', 'late'])).code).toBe(5)
})

test('a platform without volumes rejects documents and mounts', async () => {
  const plain = await ownPlatform()
  const env = { HOLDFAST_URL: plain.baseUrl, HOLDFAST_TOKEN: plain.acme.token }
  const listed = await cli(['volume', 'list'], { env })
  expect([listed.code, listed.stderr]).toEqual([
    5,
    expect.stringContaining('Volume management is disabled on this platform.'),
  ])
  const path = write('plain.yaml', consumer('db', 'pg').replace(platform.image, plain.image))
  const applied = await cli(['apply', '-f', path], { env })
  expect([applied.code, applied.stderr]).toEqual([
    3,
    expect.stringContaining('volume_binding_unavailable at volumes'),
  ])
  await plain.stop()
})
