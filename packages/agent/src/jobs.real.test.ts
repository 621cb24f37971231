// Containers that run once, on real engines of both supported Docker versions. The test acts as the server.

import { existsSync } from 'node:fs'
import { readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { asJobId, type DesiredItem, ownerOf } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { onBothEnginesAtOnce } from './fixtures/real-engine.fixture.ts'
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

onBothEnginesAtOnce('a job', (world) => {
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
