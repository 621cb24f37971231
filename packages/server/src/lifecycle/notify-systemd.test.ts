import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { notifySystemd, type ServiceState } from './notify-systemd.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-notify-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const sent = (): string => join(folder, 'sent')

/** Puts a program `systemd-notify` on the PATH that runs `script`, and returns the failures of one message. */
async function notifyBy(
  script: string | undefined,
  state: ServiceState = 'ready',
  NOTIFY_SOCKET: string | undefined = '/run/n',
) {
  const program = join(folder, 'systemd-notify')
  if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`)
  if (script !== undefined) chmodSync(program, 0o755)
  const failures: string[] = []
  const PATH = script === undefined ? folder : `${folder}:${env['PATH']}`
  await notifySystemd(state, {
    env: { PATH, NOTIFY_SOCKET, SENT: sent() },
    deadlineMs: 2_000,
    pauseMs: 1,
    onFailure: (why) => failures.push(why),
  })
  return failures
}

test.each([
  ['ready', '--ready /run/n\n'],
  ['stopping', 'STOPPING=1 /run/n\n'],
] as const)('systemd-notify is called with the state %s and the socket of the unit', async (state, line) => {
  expect(await notifyBy('echo "$* $NOTIFY_SOCKET" > "$SENT"', state)).toEqual([])
  expect(readFileSync(sent(), 'utf8')).toBe(line)
})

test('a process that systemd did not start sends nothing', async () => {
  expect(await notifyBy('touch "$SENT"', 'ready', '')).toEqual([])
  expect(existsSync(sent())).toBe(false)
})

test('a failed message is reported and does not throw', async () => {
  expect(await notifyBy('exit 3', 'stopping')).toEqual(['systemd-notify ended with exit code 3'])
  expect(await notifyBy('kill -9 $$', 'stopping')).toEqual(['systemd-notify ended with SIGKILL'])
})

test('a machine without systemd-notify is reported', async () => {
  expect(await notifyBy(undefined, 'stopping')).toEqual([expect.stringContaining('ENOENT')])
})

test('a message that does not end is killed at its deadline', async () => {
  expect(await notifyBy('echo $$ > "$SENT"; exec sleep 600', 'stopping')).toEqual([
    'systemd-notify did not end within 2000 ms',
  ])
  const pid = Number(readFileSync(sent(), 'utf8'))
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
})

test('readiness is repeated until it is sent', async () => {
  const failures = await notifyBy('echo once >> "$SENT"; test "$(wc -l < "$SENT")" -gt 2')
  expect(failures.length).toBe(2)
  expect(readFileSync(sent(), 'utf8')).toBe('once\nonce\nonce\n')
})

test('readiness that cannot be sent ends after its attempts', async () => {
  expect((await notifyBy('exit 1')).length).toBe(10)
})
