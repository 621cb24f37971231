// `holdfast node upgrade` over HTTP, with agents of the test that are replaced by a newer version when the command asks for it.

import { type MachineContainer, type NodeId, VERSION } from '@holdfast/contract'
import { makeSimulatedKeys, type SimulatedNode } from '@holdfast/testkit'
import { type CliOptions, runCli } from '@holdfast/testkit/cli/run-cli'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type RawAgent, reopenRaw } from '@holdfast/testkit/session/raw-agent'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const OLDER = '0.0.9'
const WEB: MachineContainer = {
  id: 'a1',
  name: 'web.0',
  image: 'web',
  state: 'running',
  startedAt: '2026-01-31T12:00:00.000Z',
  ours: true,
}

let platform: Platform
const nodes = new Map<string, SimulatedNode>()
const agents = new Map<string, RawAgent>()

beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  for (const name of ['n1', 'n2']) {
    const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
    const sent = { publicKey, encryptionKey }
    const id = await makeNode(platform.baseUrl, platform.api(platform.acme.token), name, { sent })
    nodes.set(name, { nodeId: id as NodeId, generation: 1, identityKey })
  }
})
beforeEach(async () => {
  for (const name of nodes.keys()) await runAgent(name, OLDER)
})
afterAll(async () => {
  for (const agent of agents.values()) agent.close()
  await platform.stop()
})

/** Replaces the agent of a node by one of a version, which lists one container. */
async function runAgent(name: string, version: string, container = WEB): Promise<void> {
  const node = nodes.get(name) ?? expect.unreachable()
  agents.get(name)?.close()
  const agent = await reopenRaw(platform.baseUrl, node, { version })
  agent.socket.on('message', (data) => {
    const message = JSON.parse(String(data))
    if (message.type === 'call') agent.send({ type: 'answer', id: message.id, containers: [container] })
  })
  agents.set(name, agent)
}

const upgrade = (words: readonly string[], options: CliOptions = {}) =>
  runCli(['node', 'upgrade', ...words], {
    ...options,
    env: { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token },
  })

/** Starts the newer agent of each node when the command has printed what to run on it. */
function installing(container = WEB): CliOptions {
  const installed = new Set<string>()
  return {
    onOutput(printed) {
      for (const [, name = ''] of printed.matchAll(/^# On (\S+),/gm)) {
        if (!installed.has(name)) void runAgent(name, VERSION, container)
        installed.add(name)
      }
    },
  }
}

const commandsFor = (
  name: string,
): string => `# On ${name}, as root: replaces the agent ${OLDER} by ${VERSION} and restarts it.
apt install ./holdfast-agent_${VERSION}_amd64.deb        # Debian, Ubuntu
dnf install ./holdfast-agent-${VERSION}-1.x86_64.rpm     # Fedora, RHEL
`

test('node upgrade waits for the new agent and reports that the containers kept running', async () => {
  expect(await upgrade(['n1'], installing())).toEqual({
    code: 0,
    stdout: `${commandsFor('n1')}node/n1 upgraded to ${VERSION}, 1 container kept running\n`,
    stderr: 'waiting for the agent of n1; its containers keep running\n',
  })
  expect(await upgrade(['n1'])).toEqual({ code: 0, stdout: `node/n1 already runs ${VERSION}\n`, stderr: '' })
})

test('node upgrade --all upgrades one node at a time', async () => {
  const { code, stdout } = await upgrade(['--all'], installing())
  const upgraded = (name: string) => `node/${name} upgraded to ${VERSION}, 1 container kept running\n`
  const parts = [...nodes.keys()].map((name) => commandsFor(name) + upgraded(name))
  expect([code, stdout]).toEqual([0, parts.join('')])
  expect(await upgrade(['--all'])).toEqual({ code: 0, stdout: '', stderr: 'no node has an outdated agent\n' })
})

test('node upgrade --all stops at a node whose container was restarted', async () => {
  const { code, stdout, stderr } = await upgrade(
    ['--all'],
    installing({ ...WEB, startedAt: '2026-01-31T12:01:00.000Z' }),
  )
  expect([code, stdout]).toEqual([
    1,
    `${commandsFor('n1')}node/n1 upgraded to ${VERSION}, 0 containers kept running\n`,
  ])
  expect(stderr).toContain('1 container of n1 ended or restarted: web.0')
})

test('node upgrade reports an agent that was not replaced in time', async () => {
  const { code, stderr } = await upgrade(['n1', '--wait-timeout', '1s'])
  expect([code, stderr]).toEqual([4, expect.stringContaining(`n1 still runs ${OLDER}, not ${VERSION}`)])
})

test('node upgrade needs one node, or --all', async () => {
  for (const words of [[], ['n1', '--all']]) expect((await upgrade(words)).code).toBe(2)
  expect((await upgrade(['unknown'])).code).toBe(5)
})
