import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommandAsync } from '../run-command.ts'
import { waitUntil } from '../wait-until.ts'
import type { DockerLine } from './docker-engine.ts'
import { isAlive } from './process-record.ts'
import { type StandaloneDockerEngine, startDockerEngine } from './start-docker-engine.ts'
import { type Registry, startRegistry } from './start-registry.ts'

describe.each<{ line: DockerLine; apiVersion: string }>([
  { line: 'old', apiVersion: '1.41' },
  { line: 'new', apiVersion: '1.56' },
])('the $line engine', ({ line, apiVersion }) => {
  let engine: StandaloneDockerEngine
  let registry: Registry
  const docker = async (...args: string[]): Promise<string> => {
    const env = { DOCKER_HOST: `unix://${engine.socketPath}` }
    return (await runCommandAsync('docker', args, { env })).trim()
  }
  const state = (name: string): Promise<string> =>
    docker('inspect', '--format', '{{.Id}} {{.State.Pid}} {{.State.Running}}', name)

  beforeAll(async () => {
    engine = await startDockerEngine({ line })
    registry = await startRegistry({ address: engine.hostAddress })
    const { reference } = await registry.pushBusyboxImage('acme/web', '1.0')
    await docker('pull', '--quiet', reference)
    await docker('tag', reference, 'web')
  })
  afterAll(async () => {
    await engine.stop()
    await registry.stop()
  })

  test('runs a container that becomes healthy, resolves names and stops on request', async () => {
    expect(engine.apiVersion).toBe(apiVersion)
    await docker('network', 'create', 'tenant')
    const check = ['--health-cmd', 'nc -w 1 127.0.0.1 8080 </dev/null', '--health-interval', '100ms']
    await docker(
      'run',
      '-d',
      '--name',
      'web',
      '--network',
      'tenant',
      '--network-alias',
      'shop',
      ...check,
      'web',
    )
    const health = () => docker('inspect', '--format', '{{.State.Health.Status}}', 'web')
    await waitUntil(async () => (await health()) === 'healthy', { what: 'the container is healthy' })
    const ask = "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc shop 8080"
    expect(await docker('run', '--rm', '--network', 'tenant', 'web', 'sh', '-c', ask)).toMatch(
      /acme\/web:1\.0$/,
    )
    // A container that ignores SIGTERM is killed at the end of its grace period, and exits with 137.
    await docker('stop', '--time', '60', 'web')
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', 'web')).not.toBe('137')
  })

  test('a container survives kill -9 of dockerd and of containerd with the same id and process', async () => {
    await docker('run', '-d', '--name', 'lasting', 'web')
    const before = await state('lasting')
    const pid = Number(before.split(' ')[1])

    await engine.kill()
    await expect(docker('ps')).rejects.toThrow(/docker/)
    expect(isAlive(pid)).toBe(true)
    await engine.restart()
    expect(await state('lasting')).toBe(before)

    await engine.killContainerd()
    expect(isAlive(pid)).toBe(true)
    await engine.restartContainerd()
    await waitUntil(() => docker('exec', 'lasting', 'true').then(() => true), { what: 'containerd is back' })
    expect(await state('lasting')).toBe(before)

    await Promise.all([engine.kill(), engine.killContainerd()])
    await engine.restart()
    expect(await state('lasting')).toBe(before)
    await docker('rm', '--force', 'lasting')
    expect(isAlive(pid)).toBe(false)
  })

  test('a paused engine accepts a call and answers it when it is resumed', async () => {
    engine.pause()
    const impatient = { env: { DOCKER_HOST: `unix://${engine.socketPath}` }, timeoutMs: 700 }
    await expect(runCommandAsync('docker', ['ps'], impatient)).rejects.toThrow()
    engine.resume()
    expect(await docker('ps', '--quiet')).toBe('')
  })
})
