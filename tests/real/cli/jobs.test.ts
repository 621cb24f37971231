// Jobs with the CLI on a real platform with a scripted agent: the exit code of a job is that of the command, and every
// command prints what a person or a script needs. The logs of real containers are read in e2e/jobs.test.ts.

import { runCli } from '@holdfast/testkit/cli/run-cli'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type Attempt, type JobAgent, openJobAgent } from '@holdfast/testkit/session/job-agent'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
let agent: JobAgent
let script: Attempt = 'run'
beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  const node = await enrollVolumeNode(platform.baseUrl, platform.api(platform.acme.token), 'batch-1')
  agent = await openJobAgent(platform.baseUrl, node, () => script)
})
afterAll(async () => {
  agent?.close()
  await platform?.stop()
})

function cli(...words: readonly string[]) {
  return runCli(words, { env: { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token } })
}

test('exits with the code of a job that failed', async () => {
  script = { exit: 3 }
  const run = await cli('run', '--name', 'broken', platform.image, '--', 'false')
  expect([run.code, run.stderr]).toEqual([3, expect.stringContaining('failed with exit code 3')])
  const described = await cli('job', 'describe', 'broken')
  expect(described.stdout).toMatch(/^Phase: +failed/m)
  expect(described.stdout).toMatch(/^Exit code: +3$/m)
})

test('starts a job in the background, lists and cancels it', async () => {
  script = 'run'
  const started = await cli('run', '--detach', '--name', 'nightly', platform.image, '--', 'sleep', '60')
  expect([started.code, started.stdout]).toEqual([0, expect.stringMatching(/job_\w+/)])
  const listed = await cli('job', 'list')
  expect(listed.stdout).toMatch(/nightly/)
  const { items } = JSON.parse((await cli('job', 'list', '-o', 'json')).stdout)
  expect(items.map(({ name }: { name: string }) => name).sort()).toEqual(['broken', 'nightly'])
  const cancelled = await cli('job', 'cancel', 'nightly', '--wait')
  expect([cancelled.code, cancelled.stdout]).toEqual([0, expect.stringContaining('cancelled')])
  const again = await cli('job', 'cancel', 'nightly')
  expect(again.code).not.toBe(0)
  expect(again.stderr).toContain('nightly')
})

test('explains why a job has no log', async () => {
  const unknown = await cli('job', 'logs', 'nothing')
  expect([unknown.code, unknown.stderr]).toEqual([5, expect.stringContaining('nothing')])
  script = 'silent'
  await cli('run', '--detach', '--name', 'waiting', platform.image, '--', 'true')
  const logs = await cli('job', 'logs', 'waiting')
  expect([logs.code, logs.stderr]).toEqual([0, expect.stringContaining('no container')])
})
