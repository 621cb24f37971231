// Networks with the CLI on a real platform: every command, its output for people and for scripts, completion, and the
// release of a node. The agent is scripted: it reports each desired network as present or removed.

import { runCli } from '@holdfast/testkit/cli/run-cli'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type NetworkAgent, openNetworkAgent } from '@holdfast/testkit/session/network-agent'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
let agent: NetworkAgent
beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  const node = await enrollVolumeNode(platform.baseUrl, platform.api(platform.acme.token), 'n1')
  agent = await openNetworkAgent(platform.baseUrl, node)
})
afterAll(async () => {
  agent.close()
  await platform.stop()
})

function cli(...words: readonly string[]) {
  return runCli(words, { env: { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token } })
}

test('a network is planned, created, listed, described and deleted', async () => {
  expect((await cli('network', 'list')).stderr).toBe('no networks\n')
  const before = await dumpTenants(platform)
  const planned = await cli('network', 'create', 'backend', '--dry-run')
  expect([planned.code, planned.stdout]).toEqual([0, 'network/backend would be created on n1\n'])
  expect(await dumpTenants(platform)).toEqual(before)

  const created = await cli('network', 'create', 'backend', '--node', 'n1', '--internal', '--wait')
  expect([created.code, created.stdout]).toEqual([0, 'network/backend created\nnetwork/backend ready\n'])
  expect((await cli('network', 'create', 'backend')).code).toBe(6)
  expect((await cli('network', 'list', '-o', 'name')).stdout).toBe('network/backend\n')
  const listed = JSON.parse((await cli('network', 'list', '-o', 'json')).stdout)
  expect(listed.items).toMatchObject([{ name: 'backend', internal: true, nodeName: 'n1', phase: 'Ready' }])
  const described = await cli('network', 'describe', 'backend')
  expect([described.code, described.stdout]).toEqual([0, expect.stringMatching(/^Phase: +Ready$/m)])
  expect((await cli('describe', 'network', 'backend')).stdout).toMatch(/^Internal: +yes, it has no way out$/m)
  expect((await cli('__complete', '--', 'network', 'describe', 'b')).stdout).toBe('backend\n')

  const deleted = await cli('network', 'delete', 'backend', '--wait')
  expect([deleted.code, deleted.stdout]).toEqual([0, 'network/backend deleting\nnetwork/backend deleted\n'])
  const absent = await cli('network', 'describe', 'backend')
  expect([absent.code, absent.stderr]).toEqual([5, expect.stringContaining('network_not_found')])
})

test('a node is released by its tenant', async () => {
  const words = ['node', 'release', 'n1', '--tenant', platform.acme.id]
  const planned = await cli(...words, '--dry-run')
  expect([planned.code, planned.stdout.split('\n')[0]]).toEqual([0, 'node/n1 would be released'])
  const released = await cli(...words)
  expect([released.code, released.stdout]).toEqual([0, 'node/n1 being released\n'])
})
