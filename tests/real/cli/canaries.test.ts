// Canaries with the CLI on a real platform: every command, its output for people and for scripts, and completion.

import { type CanaryWorld, startCanaryWorld, untilRolledOut } from '@holdfast/testkit/scenarios/canary-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

let world: CanaryWorld
beforeAll(async () => {
  world = await startCanaryWorld()
})
afterAll(() => world?.stop())

const cli = (...words: string[]) => world.cli(words)
const firstLine = (text: string): string | undefined => text.split('\n')[0]
const phase = async (): Promise<unknown> =>
  JSON.parse((await cli('rollout', 'canary', 'status', 'web', '-o', 'json')).stdout).phase

test('a canary is started, shown, aborted, started again and promoted', { timeout: 150_000 }, async () => {
  const start = (...words: string[]) => cli('rollout', 'canary', 'start', 'web', ...words)
  await untilRolledOut(world.api)
  expect((await cli('rollout', 'canary', 'status', 'web')).code).toBe(5)
  const empty = await start()
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('nothing to try')])
  expect((await start('--env', 'MODE=new', '--weight', '60')).code).toBe(2)
  const dry = await start('--env', 'MODE=new', '--dry-run')
  expect([dry.code, firstLine(dry.stdout)]).toEqual([0, 'deployment/web would be tried in a canary'])
  const started = await start('--env', 'MODE=new', '--observe', '1s')
  expect([started.code, firstLine(started.stdout)]).toEqual([
    0,
    'canary of deployment/web started: 1 replica, 10 % of the requests',
  ])
  expect((await start('--env', 'MODE=new')).stderr).toContain('canary_state_invalid')
  const shown = await cli('rollout', 'canary', 'status', 'web')
  expect(shown.stdout).toMatch(/^Weight: +10 % of the routed requests$/m)
  expect((await cli('describe', 'web')).stdout).toMatch(/^Canary: +\w+/m)
  const aborted = await cli('rollout', 'canary', 'abort', 'web')
  expect(aborted.stdout).toBe('canary of deployment/web aborted\n')
  expect(await phase()).toBe('aborted')

  expect((await start('--env', 'MODE=new', '--observe', '1s')).code).toBe(0)
  await expect.poll(phase, { timeout: 30_000 }).toBe('ready')
  const promoted = await cli('rollout', 'canary', 'promote', 'web', '--wait')
  expect([promoted.code, firstLine(promoted.stdout)]).toEqual([
    0,
    'canary of deployment/web promoted, as revision 2',
  ])
  expect((await cli('__complete', '--', 'rollout', 'canary', '')).stdout).toContain('promote')
})
