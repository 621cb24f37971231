// Logs and exec through the CLI, run as a process with pipes: stdout, stderr and exit codes.

import { type CliOptions, runCli } from '@holdfast/testkit/cli/run-cli'
import { startWirePeer, type WirePeer } from '@holdfast/testkit/cli/wire-peer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let peer: WirePeer
beforeAll(async () => {
  peer = await startWirePeer()
})
afterAll(() => peer.stop())

const cli = (words: readonly string[], options: CliOptions = {}) =>
  runCli(words, { ...options, env: { HOLDFAST_URL: peer.url, HOLDFAST_TOKEN: 'canary-token' } })

describe('holdfast logs', () => {
  test('prints lines on stdout and notices about missing ones on stderr', async () => {
    const ran = await cli(['logs', 'web', '-n', '5', '--replica', '2', '--since', '2026-01-31T12:00:00Z'])
    expect(ran).toEqual({
      code: 0,
      stdout: '1 | first\n1 | \u001b[31mred\n',
      stderr: 'replica 1: 3 lines were skipped\nreplica 2 on n2 cannot be read: unreachable\n',
    })
    expect(peer.asked.at(-1)).toEqual({ tail: '5', replica: '2', since: '2026-01-31T12:00:00.000Z' })
  })

  test('asks for the kept lines of failed containers with --previous', async () => {
    expect((await cli(['logs', 'web', '-p'])).stdout).toContain('1 | first\n')
    expect(peer.asked.at(-1)).toEqual({ previous: 'true' })
  })

  test('follows until Ctrl-C', async () => {
    const ran = await cli(['logs', '-f', 'web'], { onOutput: (_all, interrupt) => interrupt() })
    expect(ran.code).toBe(130)
    expect(ran.stdout).toContain('1 | first\n')
  })
})

describe('holdfast exec', () => {
  test('has the output, error output and exit code of the command', async () => {
    const ran = await cli(['exec', 'web', '--replica', '2', 'sh', '-c', 'echo out; echo err >&2; exit 7'])
    expect(ran).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' })
    expect(peer.asked.at(-1)).toEqual({
      command: ['sh', '-c', 'echo out; echo err >&2; exit 7'],
      tty: false,
      replica: 2,
    })
  })

  test('passes stdin to its end with -i, and none without', async () => {
    const input = 'x'.repeat(300_000)
    expect(await cli(['exec', '-i', 'web', '--', 'wc', '-c'], { input })).toEqual({
      code: 0,
      stdout: '300000\n',
      stderr: '',
    })
    expect(await cli(['exec', 'web', 'wc', '-c'], { input })).toEqual({
      code: 0,
      stdout: '0\n',
      stderr: '',
    })
  })

  test('needs a terminal with -t', async () =>
    expect(await cli(['exec', '-it', 'web', '--', 'sh'])).toMatchObject({
      code: 2,
      stderr: 'error: -t needs a terminal, but stdin or stdout is not one\n',
    }))

  test('reports a lost connection without the ticket', async () => {
    const ran = await cli(['exec', 'web', '--verbose', '--', 'sh', '-c', 'echo here; sleep 30'], {
      onOutput: () => peer.cut(),
    })
    expect(ran).toMatchObject({ code: 7, stdout: 'here\n' })
    expect(ran.stderr).toContain('error: the connection to the command was lost\n')
    expect(ran.stderr).not.toContain('canary')
  })
})
