// Tests the CLI commands logs and exec with real containers, on a lab with servers, an agent and a Docker Engine.

import { join } from 'node:path'
import { bundledCli, type CliOptions, runCli } from '@holdfast/testkit/cli/run-cli'
import { openScreen } from '@holdfast/testkit/cli/tmux'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const NODE = join(import.meta.dirname, '../node_modules/.bin/node')

let cluster: LabPlatform
beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 1, globex: 1 } })
}, 300_000)
afterAll(() => cluster?.stop(), 120_000)

/** CLI settings with the URL of the server replica to which no agent is connected, so that requests are forwarded. */
const asAcme = () => ({
  HOLDFAST_URL: cluster.platform.baseUrl,
  HOLDFAST_TOKEN: cluster.platform.acme.token,
})
const cli = (words: readonly string[], options: CliOptions = {}) =>
  runCli(words, { ...options, env: asAcme() })

test('applies a deployment, reads its logs and executes a command in it', async () => {
  const command = JSON.stringify(['sh', '-c', 'echo hello from inside; exec sleep 3600'])
  const input = `kind: Deployment\nname: web\nimage: ${cluster.image}\ncommand: ${command}\nstopGracePeriod: 1s\n`
  const applied = await cli(['apply', '-f', '-', '--wait'], { input })
  expect(applied).toMatchObject({ code: 0, stdout: 'deployment/web created\ndeployment/web running\n' })
  expect(await cli(['logs', 'web'])).toEqual({ code: 0, stdout: '1 | hello from inside\n', stderr: '' })
  expect(await cli(['logs', '-f', 'web'], { onOutput: (_all, interrupt) => interrupt() })).toMatchObject({
    code: 130,
    stdout: '1 | hello from inside\n',
  })
  expect(await cli(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({
    code: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  const long = 'x'.repeat(200_000)
  expect(await cli(['exec', '-i', 'web', '--', 'wc', '-c'], { input: long })).toMatchObject({
    code: 0,
    stdout: '200000\n',
  })
  expect((await cli(['node', 'containers', 'acme-1'])).stdout).toMatch(/web +running +yes/)
  expect(await cli(['delete', 'web', '--wait'])).toMatchObject({ code: 0 })
}, 180_000)

test('opens a shell in a container at a real terminal, with prompt, window size and clean exit', async () => {
  const command = JSON.stringify(['sh', '-c', 'while true; do echo tick; sleep 1; done'])
  const input = `kind: Deployment\nname: shell\nimage: ${cluster.image}\ncommand: ${command}\nstopGracePeriod: 1s\n`
  expect(await cli(['apply', '-f', '-', '--wait'], { input })).toMatchObject({ code: 0 })
  const screen = await openScreen(asAcme(), 90, 20)
  try {
    await screen.type(`alias holdfast='${NODE} ${await bundledCli()}'; clear`)
    await screen.type('holdfast exec -it shell -- sh; echo "rc $?"')
    await screen.until(/^\/ #\s*$/m)
    await screen.type('stty size')
    await screen.until(/^20 90$/m)
    await screen.resize(70, 15)
    // The new terminal size arrives some time after the resize: poll until the shell in the container has the new size.
    await screen.type('until [ "$(stty size)" = "15 70" ]; do sleep 0.1; done; echo seen')
    await screen.until(/^seen$/m)
    // Ctrl-C goes to the container: it ends the running command, not the session. The test sends each key only after the
    // command or the prompt is on the screen, because the effect of Ctrl-C depends on whether a command runs.
    await screen.type('echo running; sleep 600')
    await screen.until(/^running$/m)
    await screen.press('C-c')
    await screen.type('echo still $((40 + 2))')
    await screen.until(/^still 42\n\/ #\s*$/m)
    await screen.press('C-d')
    await screen.until('rc 0')
    await screen.type('clear; stty -a | tr " " "\\n" | grep -xE "icanon|echo|isig" | sort | tr "\\n" " "')
    await screen.until('echo icanon isig')
    await screen.type('clear; holdfast logs -f --tail 1 shell; echo "rc $?"')
    await screen.until(/(?:^1 \| tick\n){3}/m)
    await screen.press('C-c')
    await screen.until('rc 130')
  } finally {
    await screen.end()
  }
  expect(await cli(['delete', 'shell', '--wait'])).toMatchObject({ code: 0 })
}, 180_000)
