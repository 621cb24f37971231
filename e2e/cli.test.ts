// Logs and exec of the CLI into real containers, on a lab: a server, an agent, a Docker Engine.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliOptions, runCli } from '../tests/support/cli/run-cli.ts'
import { type LabPlatform, startLabPlatform } from './support/start-lab-platform.ts'

let whole: LabPlatform
beforeAll(async () => {
  whole = await startLabPlatform({ nodesPerTenant: { acme: 1, globex: 1 } })
}, 300_000)
afterAll(() => whole?.stop(), 120_000)

const cli = (words: readonly string[], options: CliOptions = {}) => {
  const { platform } = whole
  // The replica that no agent dials: it asks the other one.
  const env = { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token }
  return runCli(words, { ...options, env })
}

test('a container that the CLI applied is read and entered by it', async () => {
  const command = JSON.stringify(['sh', '-c', 'echo hello from inside; exec sleep 3600'])
  const input = `kind: Deployment\nname: web\nimage: ${whole.image}\ncommand: ${command}\nstopGracePeriod: 1s\n`
  const applied = await cli(['apply', '-f', '-', '--wait'], { input })
  expect(applied).toMatchObject({ code: 0, stdout: 'deployment/web created\ndeployment/web running\n' })
  expect(await cli(['logs', 'web'])).toEqual({ code: 0, stdout: '1 | hello from inside\n', stderr: '' })
  expect(await cli(['logs', '-f', 'web'], { onOutput: (_all, interrupt) => interrupt() })).toMatchObject({
    code: 130,
    stdout: '1 | hello from inside\n',
  })
  expect(await cli(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])).toEqual({
    ...{ code: 7, stdout: 'out\n', stderr: 'err\n' },
  })
  const long = 'x'.repeat(200_000)
  expect(await cli(['exec', '-i', 'web', '--', 'wc', '-c'], { input: long })).toMatchObject({
    code: 0,
    stdout: '200000\n',
  })
  expect((await cli(['node', 'containers', 'acme-1'])).stdout).toMatch(/web +running +yes/)
  expect(await cli(['delete', 'web', '--wait'])).toMatchObject({ code: 0 })
}, 180_000)
