// Containers that run once, on real engines of both supported Docker versions. The test acts as the server. An end that no
// engine saw is reported as unknown, never with an exit code. See docs/design/jobs.md#containers

import { existsSync, rmSync } from 'node:fs'
import { readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { asJobId, type DesiredItem, ownerOf } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { startJobs } from './fixtures/ending-jobs.fixture.ts'
import { onEnginesAtOnce, onOwnEngines } from './fixtures/real-engine.fixture.ts'
import { type Engine, EngineError } from './ports/engine.ts'

const OWNER = ownerOf('job', asJobId('job_01JCPZ0000000000000000000A'))
const shell = (script: string) => ['/bin/sh', '-c', script]
const countLogged = ({ logged }: TestNode, message: string, { assignmentId }: DesiredItem): number =>
  logged.filter((line) => line.includes(message) && line.includes(assignmentId)).length
const isEnded = ({ state }: { readonly state: string }): boolean => state === 'stopped'
const move = (item: DesiredItem, desired: 'stopped' | 'removed'): DesiredItem => ({
  ...item,
  desired,
  generation: desired === 'stopped' ? 2 : 3,
})

/** Counts the lists of all containers, which the agent requests once for each complete set. */
const countLists = (engine: Engine, lists: { count: number }): Engine => ({
  ...engine,
  async listContainers() {
    const listed = await engine.listContainers()
    lists.count += 1
    return listed
  },
})

/** Sends a complete set, and waits until the agent has planned it and the set after it: actions of the first have begun. */
async function planAgain(
  node: TestNode,
  items: DesiredItem[],
  lists: { readonly count: number },
): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const before = lists.count
    node.send(items)
    await waitUntil(() => lists.count > before, { what: 'the agent has listed all containers' })
  }
}

/** Containerd's record of its containers. */
const RECORDS = 'lib/containerd/io.containerd.metadata.v1.bolt'

/** Calls `onDie` before the agent learns that a container has ended. */
const atDeath = (engine: Engine, onDie: () => void): Engine => ({
  ...engine,
  watchContainers: (label, onOpen, onEvent, signal) =>
    engine.watchContainers(
      label,
      onOpen,
      (event) => {
        if (event.action === 'die') onDie()
        onEvent(event)
      },
      signal,
    ),
})

onEnginesAtOnce('a job', (world) => {
  const bare = (): Docker => new Docker({ socketPath: world().docker.socketPath })
  const once = (script: string): DesiredItem =>
    desiredItem(
      world().image,
      { name: 'job', command: shell(script), runs: 'once', stopGracePeriod: '1s' },
      { owner: OWNER },
    )
  /** How often the container was started, by the engine's own events. */
  const startsOf = async (containerId: string): Promise<number> => {
    const filters = { container: [containerId], event: ['start'] }
    const until = Date.now() / 1000
    const events = await bare().getEvents({ since: until - 600, until, filters })
    let text = ''
    for await (const part of events) text += String(part)
    return text.split('\n').filter((line) => line !== '').length
  }
  const keptLog = (node: TestNode, { assignmentId }: DesiredItem): Promise<string> =>
    readFile(join(node.folder, 'job-logs', assignmentId), 'utf8')

  it('runs once, reports its end, and leaves its log when it is removed', async () => {
    const lists = { count: 0 }
    const { node } = await world().newNode((engine) => countLists(engine, lists))
    const item = once('echo hello; exit 0')
    node.send([item])
    const ended = await node.until(item, 'ended', isEnded)
    expect(ended).toMatchObject({ exitCode: 0, reason: '', gone: false, lastExit: { code: 0 } })
    const [id] = await node.containersOf(item)
    const found = await bare()
      .getContainer(id ?? '')
      .inspect()
    expect(found.HostConfig.RestartPolicy?.Name).toBe('no')
    await planAgain(node, [item], lists)
    node.send([move(item, 'removed')], { complete: false })
    await node.until(item, 'gone', ({ gone }) => gone)
    expect(await node.containersOf(item)).toEqual([])
    expect(await keptLog(node, item)).toContain('hello')
    expect(await startsOf(id ?? '')).toBe(1)
  })

  it('reports the exit code of a failure', async () => {
    const { node } = await world().newNode()
    const item = once('exit 7')
    node.send([item])
    const ended = await node.until(item, 'ended', isEnded)
    expect(ended).toMatchObject({ exitCode: 7, reason: 'exited', lastExit: { code: 7 } })
  })

  it('stops with SIGTERM, and with SIGKILL after the grace period', async () => {
    const { node } = await world().newNode()
    const polite = once('trap "exit 5" TERM; while true; do sleep 0.1; done')
    const stubborn = once('trap "" TERM; while true; do sleep 0.1; done')
    node.send([polite, stubborn])
    for (const item of [polite, stubborn]) await node.until(item, 'runs', isUp)
    node.send([move(polite, 'stopped'), move(stubborn, 'stopped')], { complete: false })
    expect(await node.until(polite, 'ended', isEnded)).toMatchObject({ exitCode: 5 })
    expect(await node.until(stubborn, 'ended', isEnded)).toMatchObject({ exitCode: 137 })
  })

  it('is not started again by an agent that is restarted', async () => {
    const { node, agent } = await world().newNode()
    const item = once('exit 3')
    node.send([item])
    await node.until(item, 'ended', isEnded)
    const [before] = await node.containersOf(item)
    await agent.close()
    const reports = node.reports.length
    const again = await node.start()
    node.send([item])
    await waitUntil(() => node.reports.length > reports, { what: 'the new agent has reported' })
    expect(node.newest(item)).toMatchObject({ state: 'stopped', exitCode: 3 })
    expect(await node.containersOf(item)).toEqual([before])
    // Every action that the new agent planned has ended when it is closed.
    await again.close()
    expect(await startsOf(before ?? '')).toBe(1)
  })

  it('never runs a job again whose container another program removed', async () => {
    const lists = { count: 0 }
    const { node } = await world().newNode((engine) => countLists(engine, lists))
    const item = once('sleep 600')
    node.send([item])
    const { containerId } = await node.until(item, 'runs', isUp)
    await bare()
      .getContainer(containerId ?? '')
      .remove({ force: true })
    const lost = await node.until(item, 'lost', isEnded)
    // The agent may see the killed container before the engine has removed it.
    expect(['container_lost null', 'exited 137']).toContain(`${lost.reason} ${lost.exitCode}`)
    await planAgain(node, [item], lists)
    expect(await node.containersOf(item)).toEqual([])
    node.send([move(item, 'removed')], { complete: false })
    await node.until(item, 'gone', ({ gone }) => gone)
    expect(await node.containersOf(item)).toEqual([])
  })

  it('is removed only after its log is kept, or could not be kept for ten minutes', async () => {
    const engine = { fails: true }
    const { node } = await world().newNode((real) => ({
      ...real,
      readLogs: (...call) => {
        if (engine.fails) throw new EngineError('failed', 'The disk is broken.')
        return real.readLogs(...call)
      },
    }))
    const [first, second] = [once('echo first'), once('echo second')]
    node.send([first, second])
    for (const item of [first, second]) await node.until(item, 'ended', isEnded)
    node.send([move(first, 'removed')], { complete: false })
    await waitUntil(() => countLogged(node, 'action failed', first) >= 2, { what: 'the removal was retried' })
    expect(await node.containersOf(first)).toHaveLength(1)
    engine.fails = false
    await node.until(first, 'gone', ({ gone }) => gone)
    expect(await keptLog(node, first)).toContain('first')

    engine.fails = true
    node.send([move(second, 'removed')], { complete: false })
    await waitUntil(() => countLogged(node, 'action failed', second) > 0, { what: 'the removal failed' })
    expect(await node.containersOf(second)).toHaveLength(1)
    node.aheadMs = 10 * 60_000
    node.send([move(first, 'removed'), move(second, 'removed')])
    await node.until(second, 'gone', ({ gone }) => gone)
    expect(countLogged(node, 'log of a job could not be kept', second)).toBe(1)
  })

  it('keeps the last MiB of the log, and deletes logs that the server no longer names', async () => {
    const { node } = await world().newNode()
    const item = once(
      'i=0; while [ $i -lt 30000 ]; do echo "line $i ............................"; i=$((i+1)); done',
    )
    node.send([item])
    await node.until(item, 'ended', isEnded)
    node.send([move(item, 'removed')], { complete: false })
    await node.until(item, 'gone', ({ gone }) => gone)
    const kept = await keptLog(node, item)
    expect(kept).toContain('line 29999')
    expect(kept).not.toMatch(/\bline 0 /)
    // Each line is stored as JSON with its channel, which adds a little.
    expect(kept.length).toBeLessThan(1.5 * 1024 * 1024)
    node.send([], { jobLogs: [item.assignmentId] })
    expect(await keptLog(node, item)).toBe(kept)
    // A log is deleted only if it was kept ten minutes ago: the server may not know of its attempt yet.
    const path = join(node.folder, 'job-logs', item.assignmentId)
    node.send([], { jobLogs: [] })
    expect(await keptLog(node, item)).toBe(kept)
    const old = new Date(Date.now() - 11 * 60_000)
    await utimes(path, old, old)
    node.send([], { jobLogs: [item.assignmentId] })
    expect(await keptLog(node, item)).toBe(kept)
    node.send([], { jobLogs: [] })
    await waitUntil(async () => !existsSync(path), { what: 'the log is deleted' })
  })
})

onOwnEngines('the end of a job', (world, line) => {
  it('is reported if the agent, the engine or containerd was away', { timeout: 120_000 }, async () => {
    const { docker, image } = world()
    const { node, agent } = await world().newNode()
    const jobs = await startJobs(node, image, [7, 0, 7, 0, 7])
    const withoutAgent = jobs.slice(0, 2)
    const [failing, succeeding, withoutContainerd] = jobs.slice(2)
    await agent.close()
    for (const job of withoutAgent) await job.end()
    const next = await node.start()
    node.send(jobs.map(({ item }) => item))
    for (const job of withoutAgent) await job.expectEnd()
    await docker.kill()
    for (const job of [failing, succeeding]) await job?.end()
    await docker.restart()
    await failing?.expectEnd()
    // The old engine records 0 also for an end that containerd has forgotten.
    await (line === 'old' ? succeeding?.expectLost() : succeeding?.expectEnd())
    await docker.kill()
    await docker.killContainerd()
    await withoutContainerd?.end()
    await docker.restartContainerd()
    await docker.restart()
    // The new containerd forgets how a container ended without it.
    const seen = withoutContainerd && (await node.until(withoutContainerd.item, 'ended', isEnded))
    const expected = line === 'new' ? ['exited 7', 'container_lost null'] : ['exited 7']
    expect(expected).toContain(`${seen?.reason} ${seen?.exitCode}`)
    await next.close()
    await node.clear()
  })

  // The old engine records 255, and 0 if containerd has no record of the container. The new engine keeps images there.
  it.each(line === 'old' ? [true, false] : [true])(
    'is unknown after a power cut, records kept: %s',
    {
      timeout: 120_000,
    },
    async (isKept) => {
      const { docker, image } = world()
      const { node, agent } = await world().newNode()
      const jobs = await startJobs(node, image, [7, 0])
      await docker.kill()
      await docker.killContainerd()
      for (const job of jobs) await job.crash()
      if (!isKept) rmSync(join(docker.folder, RECORDS), { recursive: true })
      await docker.restart()
      for (const job of jobs) await job.expectLost()
      // A new agent learns nothing else from the engine.
      await agent.close()
      const reported = node.reports.length
      const next = await node.start()
      node.send(jobs.map(({ item }) => item))
      for (const job of jobs)
        await node.until(job.item, 'reported again', ({ assignmentId }) =>
          node.reports.slice(reported).some((report) => report.assignmentId === assignmentId),
        )
      for (const job of jobs) await job.expectLost()
      await next.close()
      await node.clear()
    },
  )

  it('is reported if the engine is killed right after it announced the end', {
    timeout: 120_000,
  }, async () => {
    const { docker, image } = world()
    let killed: Promise<void> | undefined
    const { node, agent } = await world().newNode((engine) =>
      atDeath(engine, () => {
        killed ??= docker.kill()
      }),
    )
    const [job] = await startJobs(node, image, [7])
    await job?.end()
    await waitUntil(() => killed !== undefined, { what: 'the engine announced the end' })
    await killed
    await docker.restart()
    await job?.expectEnd()
    await agent.close()
    await node.clear()
  })
})
