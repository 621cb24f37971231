// Runs the commands of Caddy's systemd unit without systemd. On a new machine Caddy starts with only its admin socket,
// which is accessible to the owner alone, and accepts the agent's configuration.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { engineBinary, freePort, makeTempFolder, waitUntil } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { createCaddyAdmin } from './caddy-admin.ts'

const unit = readFileSync(fileURLToPath(new URL('../../../holdfast-caddy.service', import.meta.url)), 'utf8')
const settingsOf = (name: string): string[] =>
  unit.split('\n').flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []))

/** Splits a line of the unit file as systemd.syntax(7) describes: removes quotes and backslashes, turns `%%` into `%`. */
function words(line: string): string[] {
  const found = line.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\S+/g) ?? []
  return found.map((word) =>
    word
      .replace(/^(['"])(.*)\1$/s, '$2')
      .replace(/\\(.)/g, '$1')
      .replaceAll('%%', '%'),
  )
}

test('Caddy starts from its systemd unit on a new machine', async () => {
  const { path, remove } = makeTempFolder('unit')
  const [state, run] = [join(path, 'lib'), join(path, 'run')]
  for (const folder of [state, run]) mkdirSync(folder, { mode: 0o700 })
  const place = (text: string): string =>
    text.replaceAll('/var/lib/holdfast-caddy', state).replaceAll('/run/holdfast-caddy', run)
  const assignments = settingsOf('Environment').flatMap(words).map(place)
  const environment = {
    ...Object.fromEntries(
      assignments.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
    ),
    STATE_DIRECTORY: state,
    RUNTIME_DIRECTORY: run,
    PATH: env.PATH ?? '',
  }
  for (const line of settingsOf('ExecStartPre').filter((one) => !one.startsWith('+'))) {
    const [command = '', ...rest] = words(line)
    execFileSync(command, rest, { env: environment })
  }
  const [, ...rest] = words(settingsOf('ExecStart')[0] ?? '')
  const args = rest.map((word) => word.replaceAll(`\${STATE_DIRECTORY}`, state))
  const caddy = spawn(engineBinary('caddy'), args, { env: environment, stdio: 'ignore' })
  const closed = new Promise((resolve) => caddy.once('close', resolve))
  const adminSocket = join(run, 'admin.sock')
  try {
    await waitUntil(() => statSync(adminSocket).isSocket(), { what: 'Caddy listens to the agent' })
    // Caddy creates the socket before it restricts access to it.
    await waitUntil(() => (statSync(adminSocket).mode & 0o777) === 0o600, {
      what: 'only the agent may connect',
    })
    const listen = [`127.0.0.1:${await freePort()}`]
    const settings = { listen, peerListen: undefined, upstreamsFolder: join(state, 'upstreams') }
    const admin = createCaddyAdmin(
      { ...settings, adminSocket, tls: { mode: 'off' } },
      join(state, 'config.json'),
    )
    await waitUntil(() => admin.load([]).then(() => true), { what: 'Caddy accepts a configuration' })
    expect((await fetch(`http://${listen[0]}`)).status).toBe(404)
  } finally {
    caddy.kill('SIGKILL')
    await closed
    remove()
  }
})
