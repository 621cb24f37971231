// The CLI reads and changes running deployments, on a real platform with agents that report containers as ready.

import { tmpdir } from 'node:os'
import { type CliWorld, startCliWorld } from '@holdfast/testkit/cli/start-world'
import { isInTurn } from '@holdfast/testkit/rotation'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: CliWorld

beforeAll(async () => {
  world = await startCliWorld(['n1', 'n2'])
  const more = 'replicas: 2\nroutes: [{host: web.example.com, port: 8080}]\n'
  const input = `kind: Deployment\nname: web\nimage: ${world.platform.image}\n${more}`
  const applied = await world.cli(['apply', '-f', '-', '--wait'], { input })
  if (applied.code !== 0) throw new Error(applied.stderr)
  const big = 'resources: {cpuMillis: 900000, memoryBytes: 0}\n'
  await world.cli(['apply', '-f', '-'], {
    input: `kind: Deployment\nname: big\nimage: ${world.platform.image}\n${big}`,
  })
})
afterAll(() => world.stop())

describe('one deployment', () => {
  test('describe shows its replicas and events', async () => {
    const { code, stdout } = await world.cli(['describe', 'deployment/web'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Name: +web\nPhase: +Running\n/)
    expect(stdout).toMatch(
      /Replicas:\n {2}REPLICA {2}NODE {2}STATE {2}REVISION {2}UP +CONTAINER\n {2}1 +n[12] +ready/,
    )
    expect(stdout).toMatch(/Events:\n(?:.*\n)* {2}\d+s ago +deployment\.created/)
    expect(stdout).not.toContain('Replicas without a node')
  })

  test('describe lists every node and reason first while a replica waits', async () => {
    const { stdout } = await world.cli(['describe', 'big'])
    const refusals = stdout.indexOf('Replicas without a node:')
    expect(refusals).toBeGreaterThan(0)
    expect(stdout.indexOf('Events:')).toBeGreaterThan(refusals)
    expect(stdout).toMatch(/n1 +\w+ +.*900000/)
  })

  test('why explains the present, an earlier time, and as data', async () => {
    const now = await world.cli(['why', 'big'])
    expect(now.stdout).toMatch(/^Pending, decided at 20/)
    expect(now.stdout).toContain('REASON')
    const data = JSON.parse((await world.cli(['why', 'big', '-o', 'json'])).stdout)
    expect(data.candidates.map(({ nodeName }: { nodeName: string }) => nodeName).sort()).toEqual(['n1', 'n2'])
    expect((await world.cli(['why', 'big', '--at', '1h'])).stdout).toContain(
      'No decision about this deployment is known',
    )
    expect(await world.cli(['why', 'absent'])).toMatchObject({ code: 5 })
    expect(await world.cli(['why', 'big', '--at', 'noon'])).toMatchObject({ code: 2 })
  })
})

describe('holdfast explain', () => {
  test('explains codes and fields, offline', async () => {
    const offline = { env: { HOLDFAST_URL: '' } }
    expect((await world.cli(['explain', 'image_required'], offline)).stdout).toMatch(
      /^image_required \(rejection code\)\n/,
    )
    const field = (await world.cli(['explain', 'healthCheck.timeout'], offline)).stdout
    expect(field).toMatch(/^Type: +duration$/m)
    expect(field).toContain('healthcheck_timeout_below_floor')
    expect(await world.cli(['explain', 'healthCheck.timout'], offline)).toEqual({
      code: 5,
      stdout: '',
      stderr: 'error: No field or code "healthCheck.timout". Did you mean healthCheck.timeout?\n',
    })
  })
})

describe('holdfast events', () => {
  test('lists the events of one deployment, as a table and as data', async () => {
    const listed = await world.cli(['events', '--subject', 'web'])
    expect(listed.stdout).toMatch(/^AGE +SEVERITY +TYPE +SUBJECT +REASON +MESSAGE\n/)
    expect(listed.stdout).toContain('deployment.running')
    const data = JSON.parse(
      (await world.cli(['events', '--type', 'deployment.created', '-o', 'json'])).stdout,
    )
    expect(data.items).toHaveLength(2)
    expect(await world.cli(['events', '--type', 'no.such'])).toMatchObject({ code: 3 })
  })

  test('follows events until Ctrl-C', async () => {
    let seen = false
    // The CLI shows no events from before its stream is open, so the test repeats the event until it is shown.
    const keepHappening = async (): Promise<void> => {
      while (!seen) {
        await world.cli(['node', 'cordon', 'n2'])
        await world.cli(['node', 'uncordon', 'n2'])
      }
    }
    let happening = Promise.resolve()
    const ran = await world.cli(['events', '--watch', '-o', 'json', '--subject', 'n2'], {
      onStart() {
        happening = keepHappening()
      },
      onOutput(all, interrupt) {
        seen ||= all.includes('node.cordoned')
        if (seen) interrupt()
      },
    })
    await happening
    expect(ran).toMatchObject({ code: 130, stderr: '' })
    const [first = ''] = ran.stdout.split('\n')
    expect(JSON.parse(first)).toMatchObject({ type: 'node.cordoned', subject: { name: 'n2' } })
  })
})

describe('holdfast rollout', () => {
  test('shows history and status, and rolls back', async () => {
    const image = (replicas: number) =>
      `kind: Deployment\nname: web\nimage: ${world.platform.image}\nreplicas: ${replicas}\nlabels: {n: "${replicas}"}\n`
    await world.cli(['apply', '-f', '-', '--wait'], { input: image(1) })
    const history = await world.cli(['rollout', 'history', 'web'])
    expect(history.stdout).toMatch(/^REVISION +AGE +IMAGE +CHANGED +AUTHOR\n1 .*\n2 .* replicas, labels +\S/)
    expect((await world.cli(['rollout', 'history', 'web', '--revision', '1'])).stdout).toContain(
      'replicas: 2\n',
    )
    const undone = await world.cli(['rollout', 'undo', 'web'])
    expect(undone).toMatchObject({
      code: 0,
      stdout: 'deployment/web rolled back to revision 1, as revision 3\n',
    })
    expect(await world.cli(['rollout', 'status', 'web'])).toMatchObject({
      code: 0,
      stdout: 'deployment/web running\n',
    })
    expect(await world.cli(['rollout', 'undo', 'web', '--to-revision', '99'])).toMatchObject({ code: 5 })
    expect(await world.cli(['rollout', 'status', 'big'])).toMatchObject({ code: 4 })
    expect(await world.cli(['rollout', 'restart', 'web', '--wait'])).toMatchObject({
      code: 0,
      stdout: 'deployment/web restarting\ndeployment/web running\n',
    })
  })
})

describe('holdfast node', () => {
  test('lists, cordons and uncordons, by name or id', async () => {
    expect((await world.cli(['node', 'list', '-o', 'name'])).stdout).toBe('node/n1\nnode/n2\n')
    expect((await world.cli(['node', 'list'])).stdout).toMatch(/ENGINE +AGENT\n/)
    expect(await world.cli(['node', 'cordon', 'n1'])).toMatchObject({ code: 0, stdout: 'node/n1 cordoned\n' })
    expect((await world.cli(['get', 'node', 'n1'])).stdout).toContain('cordoned')
    const { id } = JSON.parse((await world.cli(['get', 'node', 'n1', '-o', 'json'])).stdout)
    expect(await world.cli(['node', 'uncordon', id])).toMatchObject({
      code: 0,
      stdout: 'node/n1 uncordoned\n',
    })
    expect(await world.cli(['node', 'cordon', 'n9'])).toMatchObject({ code: 5 })
  })

  test('join-token prints the command as data and the instructions on stderr', async () => {
    const { code, stdout, stderr } = await world.cli(['node', 'join-token', 'n3', '--country', 'DE'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('holdfast-agent enroll --server '),
    })
    expect(stderr).toMatch(/^valid once, until 20/)
  })

  test('--dry-run shows the effects first and changes nothing', async () => {
    const dry = async (...words: string[]) => {
      const { code, stdout, stderr } = await world.cli([...words, '--dry-run'])
      expect({ code, stderr }, stderr).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    const before = await world.cli(['get', 'deployments,nodes', '-o', 'json'])
    expect(await dry('node', 'drain', 'n2')).toMatch(
      /^node\/n2 would be drained\n {2}Effects: \d replicas? moves?\.\n {4}\w+\/\d moves from n2 to n1: its node is being emptied\n/,
    )
    expect(await dry('node', 'cordon', 'n2')).toBe(
      'node/n2 would be cordoned\n  Effects: nothing that runs is affected.\n',
    )
    expect(await dry('node', 'remove', 'n2')).toMatch(
      /^node\/n2 would be removed\n {2}Effects: \d replicas? move/,
    )
    expect(await dry('delete', 'web')).toMatch(
      /^deployment\/web would be deleted\n {2}Effects: \d replicas? stop/,
    )
    expect(await dry('rollout', 'restart', 'web')).toMatch(
      /^deployment\/web would be restarted\n {2}Effects: \d replicas? restart.*\n {4}web\/1 restarts .*: a restart is requested\n/,
    )
    expect(await dry('rollout', 'undo', 'web')).toMatch(
      /^deployment\/web would be rolled back to revision \d+\n/,
    )
    expect((await world.cli(['get', 'deployments,nodes', '-o', 'json'])).stdout).toBe(before.stdout)
  })

  test('drain moves the replicas, and remove removes the node', async () => {
    expect(await world.cli(['node', 'drain', 'n2', '--wait'])).toMatchObject({
      code: 0,
      stdout: 'node/n2 draining\nnode/n2 drained\n',
    })
    expect((await world.cli(['describe', 'web'])).stdout).not.toMatch(/\d +n2 +ready/)
    expect(await world.cli(['node', 'remove', 'n2'])).toMatchObject({
      code: 0,
      stdout: 'node/n2 being removed\n',
    })
  })
})

describe('other commands', () => {
  test('list routes and registries', async () => {
    expect((await world.cli(['route', 'list'])).stdout).toMatch(/web\.example\.com +\/ +8080 +web +Running/)
    const host = world.platform.registryHost
    expect((await world.cli(['registry', 'list'])).stdout).toContain(host)
    const login = await world.cli(['registry', 'login', host, '-u', 'ci', '--password-stdin', '--verbose'], {
      input: 'canary-password\n',
    })
    expect(login).toMatchObject({ code: 0, stdout: `registry/${host} credential stored\n` })
    expect(login.stderr).not.toContain('canary')
    expect((await world.cli(['registry', 'list'])).stdout).toMatch(new RegExp(`${host} +stored`))
    expect(await world.cli(['registry', 'logout', host])).toMatchObject({ code: 0 })
    expect(await world.cli(['registry', 'login', host])).toMatchObject({ code: 2 })
  })

  test('status prints once without a terminal', async () => {
    const { code, stdout } = await world.cli(['status'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^1 of 2 deployments running; /)
    expect(stdout).toContain('node.drained')
  })

  test('no token is in any output of any command, verbose or not', async () => {
    const { COMMANDS } = await import('@holdfast/cli/commands/index')
    const { token } = world.platform.acme
    for (const [at, { name, args = [] }] of COMMANDS.entries()) {
      if (!isInTurn('cli-commands', at)) continue
      if (name === 'login' || name === 'init' || name.startsWith('context')) continue
      const words = [...name.split(' '), ...args.map(({ choices }) => choices?.[0] ?? 'canary'), '--verbose']
      const { stdout, stderr } = await world.cli(words, { cwd: tmpdir(), interruptAfterMs: 3000 })
      expect(`${stdout}${stderr}`).not.toContain(token)
      expect(`${stdout}${stderr}`).not.toContain(token.split('_').slice(2).join('_'))
    }
  })
})
