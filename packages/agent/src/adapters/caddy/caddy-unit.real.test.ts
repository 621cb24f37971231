// The unit of Caddy, done by hand as systemd does it: on a new machine Caddy comes up with nothing but its admin socket, for
// the owner alone, and takes what the agent gives it.

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

/** systemd takes quotes and backslashes away, of both kinds of quotes alike (systemd.syntax(7)), and doubled percent signs. */
function words(line: string): string[] {
  const found = line.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\S+/g) ?? []
  return found.map((word) =>
    word
      .replace(/^(['"])(.*)\1$/s, '$2')
      .replace(/\\(.)/g, '$1')
      .replaceAll('%%', '%'),
  )
}

test('Caddy comes up as its unit says, on a machine that has nothing yet', async () => {
  const { path, remove } = makeTempFolder('unit')
  const [state, run] = [join(path, 'lib'), join(path, 'run')]
  for (const folder of [state, run]) mkdirSync(folder, { mode: 0o700 })
  const place = (text: string): string =>
    text.replaceAll('/var/lib/holdfast-caddy', state).replaceAll('/run/holdfast-caddy', run)
  const told = settingsOf('Environment').flatMap(words).map(place)
  const environment = {
    ...Object.fromEntries(
      told.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
    ),
    ...{ STATE_DIRECTORY: state, RUNTIME_DIRECTORY: run, PATH: env.PATH ?? '' },
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
    expect(statSync(adminSocket).mode & 0o777).toBe(0o600)
    const listen = [`127.0.0.1:${await freePort()}`]
    const settings = { listen, peerListen: undefined, upstreamsFolder: join(state, 'upstreams') }
    const admin = createCaddyAdmin(
      { ...settings, adminSocket, tls: { mode: 'off' } },
      join(state, 'config.json'),
    )
    await waitUntil(() => admin.load([]).then(() => true), { what: 'it takes what it is told' })
    expect((await fetch(`http://${listen[0]}`)).status).toBe(404)
  } finally {
    caddy.kill('SIGKILL')
    await closed
    remove()
  }
})
