// Every common way in which a container fails, on real engines of both supported Docker versions, which word it
// differently: the reports name the cause.

import type { ContainerTemplate, DesiredItem, Observation } from '@holdfast/contract'
import { FOREIGN_PROGRAM } from '@holdfast/testkit/images/busybox-image'
import Docker from 'dockerode'
import pino from 'pino'
import { expect, it } from 'vitest'
import { openOomKills } from './adapters/kernel/oom-kills.ts'
import { desiredItem, isUp } from './fixtures/agent.fixture.ts'
import { onBothEnginesAtOnce, type RealWorld } from './fixtures/real-engine.fixture.ts'
import type { Engine } from './ports/engine.ts'

const MIB = 2 ** 20
const shell = (script: string): Partial<ContainerTemplate> => ({ command: ['/bin/sh', '-c', script] })
const check = (command: string[], timeout = '5s'): Partial<ContainerTemplate> => ({
  healthCheck: { type: 'exec', command, interval: '1s', startPeriod: '0s', timeout, retries: 2 },
})

interface Case {
  readonly template: Partial<ContainerTemplate>
  readonly expected: object
}
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)
const exited = (exit: object): object => ({ lastExit: { ...exit, at: matching(/^20/) } })

const CASES: { readonly [name: string]: Case } = {
  'exit-1': { template: shell('exit 1'), expected: exited({ code: 1 }) },
  'exit-42': { template: shell('sleep 2; exit 42'), expected: exited({ code: 42 }) },
  killed: { template: shell('sleep 1000'), expected: exited({ code: 137, signal: 'SIGKILL' }) },
  oom: {
    template: {
      ...shell('exec dd if=/dev/zero of=/dev/null bs=30M count=2'),
      limits: { memoryBytes: 6 * MIB },
    },
    expected: exited({ code: 137, signal: 'SIGKILL', oomKilled: true, oomLimitBytes: 6 * MIB }),
  },
  'missing-program': {
    template: { command: ['nope'] },
    expected: { reason: 'start_failed', cause: 'exec: "nope": executable file not found in $PATH' },
  },
  'unreadable-entry': {
    template: { command: ['/www/index.html'] },
    expected: { reason: 'start_failed', cause: 'exec: "/www/index.html": permission denied' },
  },
  'check-missing': {
    template: check(['wget', '-q']),
    expected: { reason: 'unhealthy', cause: 'exec: "wget": executable file not found in $PATH' },
  },
  'check-slow': {
    template: check(['echo waiting; sleep 30'], '1s'),
    expected: { reason: 'unhealthy', cause: matching(/exceeded timeout|no end within 1 s/) },
  },
  'check-fails': {
    template: check(['echo connection refused >&2; exit 3']),
    expected: { reason: 'unhealthy', cause: 'connection refused' },
  },
  'check-silent': {
    template: check(['exit 3']),
    expected: { reason: 'unhealthy', cause: 'exit code 3, no output' },
  },
}

onBothEnginesAtOnce('a failing container', (world) => {
  const items: { readonly name: string; readonly item: DesiredItem; readonly expected: object }[] = []

  it('is reported with its exit, its failed checks or the error of the engine', {
    timeout: 90_000,
  }, async () => {
    const { node } = await world().newNode()
    for (const [name, { template, expected }] of Object.entries(CASES))
      items.push({ name, expected, item: desiredItem(world().image, { name, ...template }) })
    const foreign = await foreignImage(world())
    const refused = { reason: 'exited', cause: matching(/^exec format error: .*linux/) }
    const foreignItem = desiredItem(foreign, { name: 'foreign' })
    items.push({ name: 'foreign', item: foreignItem, expected: refused })
    const gone = await imageGone(world())
    const about = { reason: 'image_pull_failed', cause: matching(/not found|manifest unknown/) }
    items.push({ name: 'image-gone', item: desiredItem(gone, { name: 'image-gone' }), expected: about })
    node.send(items.map(({ item }) => item))
    const killed = items.find(({ name }) => name === 'killed')?.item
    if (killed !== undefined) await killFromOutside(world(), await node.until(killed, 'up', isUp))
    for (const { item, expected } of items)
      await node.until(item, `reported as ${JSON.stringify(expected)}`, (seen) => matches(seen, expected))
    for (const { name, item } of items) {
      const { cause = '', failedChecks, restarts } = node.newest(item) ?? {}
      expect(Buffer.byteLength(cause)).toBeLessThanOrEqual(1024)
      expect(failedChecks === undefined).toBe(!name.startsWith('check-'))
      if (name.startsWith('exit-')) expect(restarts).toBeGreaterThan(0)
    }
    // The exit of a program that was not executed is never reported without its explanation.
    const unexplained = node.reports.filter(
      ({ assignmentId, lastExit, cause }) =>
        assignmentId === foreignItem.assignmentId && lastExit !== undefined && cause === undefined,
    )
    expect(unexplained).toEqual([])
    // A later run keeps the exit of the run before it.
    if (killed !== undefined)
      expect(await node.until(killed, 'up again', (seen) => isUp(seen) && seen.reason === '')).toMatchObject({
        lastExit: { signal: 'SIGKILL' },
      })
    await node.clear()
  })

  const canReadKernelLog = openOomKills(pino({ level: 'silent' })) !== undefined
  it.runIf(canReadKernelLog)(
    'is reported as OOM-killed although the engine missed the kill',
    {
      timeout: 90_000,
    },
    async () => {
      const { node } = await world().newNode(missingOomKills)
      const { template, expected } = CASES.oom ?? { template: {}, expected: {} }
      const item = desiredItem(world().image, { name: 'missed', ...template })
      node.send([item])
      await node.until(item, 'OOM-killed', (seen) => matches(seen, expected))
      await node.clear()
    },
  )
})

/** An engine that misses every OOM kill. A real one does if the process dies before the engine watches its memory. */
const missingOomKills = (engine: Engine): Engine => ({
  ...engine,
  inspectContainer: async (id) => ({ ...(await engine.inspectContainer(id)), oomKilled: false }),
  watchContainers: (label, onOpen, onEvent, signal) =>
    engine.watchContainers(label, onOpen, (event) => event.action === 'oom' || onEvent(event), signal),
})

function matches(seen: Observation, expected: object): boolean {
  try {
    expect(seen).toMatchObject(expected)
    return true
  } catch {
    return false
  }
}

/** Kills the container's first process, as an operator or another program of the machine would. */
async function killFromOutside({ docker }: RealWorld, { containerId }: Observation): Promise<void> {
  const found = await new Docker({ socketPath: docker.socketPath }).getContainer(containerId ?? '').inspect()
  process.kill(found.State.Pid, 'SIGKILL')
}

/** Reference of an image whose program is for another architecture. */
async function foreignImage({ registry }: RealWorld): Promise<string> {
  const image = { files: [FOREIGN_PROGRAM], command: ['/bin/foreign'], architecture: 'arm64' } as const
  const { digest } = await registry.pushBusyboxImage('test/foreign', '1', image)
  return `${registry.host}/test/foreign@${digest}`
}

/** Reference of an image that the registry no longer has. */
async function imageGone({ registry }: RealWorld): Promise<string> {
  const { digest } = await registry.pushBusyboxImage('test/gone', '1', { page: `gone ${Date.now()}` })
  await registry.deleteManifest('test/gone', digest)
  return `${registry.host}/test/gone@${digest}`
}
