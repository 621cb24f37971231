// The CLI in a real pseudo-terminal: output, input, and the restored terminal afterwards.

import { join } from 'node:path'
import { bundledCli } from '@holdfast/testkit/cli/run-cli'
import { type CliWorld, startCliWorld } from '@holdfast/testkit/cli/start-world'
import { openScreen, type Screen } from '@holdfast/testkit/cli/tmux'
import { startWirePeer, type WirePeer } from '@holdfast/testkit/cli/wire-peer'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')

let world: CliWorld
let peer: WirePeer
let screen: Screen

beforeAll(async () => {
  world = await startCliWorld(['n1'])
  peer = await startWirePeer()
})
afterEach(() => screen.end())
afterAll(async () => {
  await peer.stop()
  await world.stop()
})

async function open(url: string, columns?: number, rows?: number): Promise<Screen> {
  screen = await openScreen({ HOLDFAST_URL: url, HOLDFAST_TOKEN: world.platform.acme.token }, columns, rows)
  await screen.type(`alias holdfast='${NODE} ${await bundledCli()}'; clear`)
  return screen
}

/** Checks that the terminal has line mode, echo and signals, as a shell expects. */
async function expectSane(): Promise<void> {
  await screen.type('clear; stty -a | tr " " "\\n" | grep -xE "icanon|echo|isig" | sort | tr "\\n" " "')
  await screen.until('echo icanon isig')
}

describe('at a terminal', () => {
  test('apply --wait draws its progress in place', async () => {
    await open(world.platform.baseUrl)
    const text = `kind: Deployment\\nname: web\\nimage: ${world.platform.image}\\n`
    await screen.type(`printf '${text}' | holdfast apply -f - --wait 2>&1 | tail -n 3; echo "made $?"`)
    // Only this command prints `made 0`, so output of an earlier command is not mistaken for its end.
    await screen.until('made 0')
    await screen.type(`clear; printf '${text}replicas: 2\\n' > /tmp/holdfast-$$.yaml; clear`)
    await screen.type(
      'holdfast apply -f /tmp/holdfast-$$.yaml --wait; echo "rc $?"; rm /tmp/holdfast-$$.yaml',
    )
    const shown = await screen.until('rc 0')
    expect(shown).toContain('deployment/web configured')
    expect(shown.match(/web: Running, 2 of 2 ready/g)).toHaveLength(1)
    expect(shown).not.toContain('web: Progressing')
    await expectSane()
  })

  test('status redraws, follows the window size, and restores the screen', async () => {
    await open(world.platform.baseUrl)
    await screen.type('echo before')
    await screen.until(/^before$/m)
    await screen.type('holdfast status; echo "rc $?"')
    expect(await screen.until('nodes ready')).not.toMatch(/^before$/m)
    await screen.resize(60, 10)
    await world.cli(['node', 'cordon', 'n1'])
    await screen.until('cordoned')
    await world.cli(['node', 'uncordon', 'n1'])
    await screen.press('C-c')
    const after = await screen.until('rc 130')
    expect(after).toMatch(/^before$/m)
    expect(after).not.toContain('nodes ready')
    await expectSane()
  })

  test('errors are wrapped at the width of the window, and no word is broken', async () => {
    await open(world.platform.baseUrl, 60, 60)
    const wrong = `kind: Deployment\\nname: small\\nimage: ${world.platform.image}\\nreplicas: -1\\n`
    await screen.type(`printf '${wrong}' | holdfast apply -f -; echo "rc $?"`)
    const refused = await screen.until('rc 3')
    expect(refused).toMatch(/^ {2}why: {6}\S.*\n {12}\S/m)
    expect(refused).toMatch(/^error: stdin: small was rejected with 1 error; nothing was\n {7}stored$/m)
    const big = `kind: Deployment\\nname: big\\nimage: ${world.platform.image}\\nresources: {cpuMillis: 900000}\\n`
    await screen.type(
      `clear; printf '${big}' | holdfast apply -f -; clear; holdfast describe big; echo "rc $?"`,
    )
    const shown = await screen.until('rc 0')
    expect(shown).toMatch(/^ {2}n1: insufficient_cpu\n {4}required {2}cpuMillis: 900000\n/m)
    expect(await screen.styled()).toContain('\u001b[31minsufficient_cpu')
    await screen.type('clear; NO_COLOR=1 holdfast describe big; echo "plain $?"')
    await screen.until('plain 0')
    expect(await screen.styled()).not.toContain('\u001b[')
  })

  test('exec -it passes every key, follows the window size and restores the terminal', async () => {
    await open(peer.url, 90, 20)
    await screen.type('holdfast exec -it web -- sh -c "read a; echo got \\$a; exit 9"; echo "rc $?"')
    await expect.poll(() => peer.sizes.at(-1)).toEqual({ cols: 90, rows: 20 })
    await screen.resize(70, 15)
    await expect.poll(() => peer.sizes.at(-1)).toEqual({ cols: 70, rows: 15 })
    await screen.press('h')
    await screen.press('i')
    await screen.press('C-j')
    expect(await screen.until('rc 9')).toContain('got hi')
    await expectSane()
  })

  test('exec -t without -i passes no key on, so that Ctrl-C ends it here', async () => {
    await open(peer.url)
    await screen.type('holdfast exec -t web -- sh -c "echo here; sleep 30"; echo "rc $?"')
    // The prompt may stand before it, because the terminal echoes keys and output side by side.
    await screen.until(/\bhere$/m)
    await screen.press('C-c')
    await screen.until('rc 130')
    await expectSane()
  })

  test('logs -f shows control sequences as text, and Ctrl-C ends it', async () => {
    await open(peer.url)
    await screen.type('holdfast logs -f web; echo "rc $?"')
    await screen.until('1 | \\u001b[31mred')
    await screen.press('C-c')
    await screen.until('rc 130')
    await expectSane()
  })

  test('Ctrl-C at a hidden prompt ends the command', async () => {
    await open(peer.url)
    await screen.type('holdfast secret set resources/x --prompt first --prompt second; echo "rc $?"')
    await screen.until('first:')
    await screen.press('x')
    await screen.press('C-m')
    await screen.until('second:')
    await screen.press('C-c')
    expect(await screen.until('rc 130')).not.toContain('error')
    await expectSane()
  })

  test('login prompts for the token and does not show it', async () => {
    await open(world.platform.baseUrl)
    const { token } = world.platform.acme
    await screen.type(
      'clear; HOLDFAST_CONTEXTS_FILE=/tmp/holdfast-$$/c.yaml env -u HOLDFAST_TOKEN holdfast login; echo "rc $?"; rm -r /tmp/holdfast-$$',
    )
    await screen.until('Token:')
    await screen.type(token)
    const shown = await screen.until('rc 0')
    expect(shown).not.toContain(token.slice(-12))
    await expectSane()
  })

  test('tenant remove asks for the name of the tenant', async () => {
    await open(world.platform.baseUrl)
    const { platformToken } = world.platform
    const made = await world.platform.api().post('/api/v1/tenants', { name: 'leaver' })
    expect(made.status).toBe(201)
    const remove = `clear; HOLDFAST_TOKEN=${platformToken} holdfast tenant remove leaver; echo "rc $?"`
    for (const [typed, code] of [
      ['leave', 1],
      ['leaver', 0],
    ] as const) {
      await screen.type(remove)
      await screen.until('to confirm:')
      await screen.type(typed)
      await screen.until(`rc ${code}`)
    }
    await expectSane()
  })
})
