// Containers that run once, on real engines of both supported Docker versions. The test acts as the server.

import { existsSync } from 'node:fs'
import { readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { asJobId, type DesiredItem, ownerOf } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import Docker from 'dockerode'
import { expect, it } from 'vitest'
import { desiredItem, isUp, type TestNode } from './fixtures/agent.fixture.ts'
import { onBothEngines } from './fixtures/real-engine.fixture.ts'

const OWNER = ownerOf('job', asJobId('job_01JCPZ0000000000000000000A'))
const shell = (script: string) => ['/bin/sh', '-c', script]
const isEnded = ({ state }: { readonly state: string }): boolean => state === 'stopped'
const move = (item: DesiredItem, desired: 'stopped' | 'removed'): DesiredItem => ({
  ...item,
  desired,
  generation: desired === 'stopped' ? 2 : 3,
})

onBothEngines('a job', (world) => {
  const bare = (): Docker => new Docker({ socketPath: world().docker.socketPath })
  const once = (script: string): DesiredItem =>
    desiredItem(
      world().image,
      { name: 'job', command: shell(script), runs: 'once', stopGracePeriod: '1s' },
      { owner: OWNER },
    )
  const keptLog = (node: TestNode, { assignmentId }: DesiredItem): Promise<string> =>
    readFile(join(node.folder, 'job-logs', assignmentId), 'utf8')

  it('runs once, reports its end, and leaves its log when it is removed', async () => {
    const { node } = await world().newNode()
    const item = once('echo hello; exit 0')
    node.send([item])
    const ended = await node.until(item, 'ended', isEnded)
    expect(ended).toMatchObject({ exitCode: 0, reason: '', gone: false, lastExit: { code: 0 } })
    const [id] = await node.containersOf(item)
    const found = await bare()
      .getContainer(id ?? '')
      .inspect()
    expect(found.HostConfig.RestartPolicy?.Name).toBe('no')
    // A complete set makes the agent plan everything again.
    node.send([item])
    node.send([move(item, 'removed')], { complete: false })
    await node.until(item, 'gone', ({ gone }) => gone)
    expect(await node.containersOf(item)).toEqual([])
    expect(await keptLog(node, item)).toContain('hello')
    expect(found.RestartCount).toBe(0)
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
    const found = await bare()
      .getContainer(before ?? '')
      .inspect()
    expect(found.RestartCount).toBe(0)
    await again.close()
  })

  it('never runs a job again whose container another program removed', async () => {
    const { node } = await world().newNode()
    const item = once('sleep 600')
    node.send([item])
    const { containerId } = await node.until(item, 'runs', isUp)
    await bare()
      .getContainer(containerId ?? '')
      .remove({ force: true })
    const lost = await node.until(item, 'lost', isEnded)
    expect(lost).toMatchObject({ reason: 'container_lost', exitCode: null })
    node.send([item])
    node.send([move(item, 'removed')], { complete: false })
    await node.until(item, 'gone', ({ gone }) => gone)
    expect(await node.containersOf(item)).toEqual([])
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
    expect(kept).not.toContain('"line 0 ')
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
