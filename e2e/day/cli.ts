// The CLI with real containers, on servers, agents and a Docker Engine of each supported line: logs, exec, and what it prints
// about containers that fail.

import { loadavg } from 'node:os'
import { join } from 'node:path'
import { bundledCli, type CliOptions, type CliRun, runCli } from '@holdfast/testkit/cli/run-cli'
import { openScreen } from '@holdfast/testkit/cli/tmux'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import { FAILING, type Failing, killWhileUp } from '@holdfast/testkit/scenarios/failing-containers'
import { nodeCalled } from '@holdfast/testkit/scenarios/node-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { describe, expect, test } from 'vitest'

const NODE = join(import.meta.dirname, '../../node_modules/.bin/node')

/** CLI settings with the URL of the server replica to which no agent is connected, so that requests are forwarded. */
const asAcme = ({ platform }: LabPlatform) => ({
  HOLDFAST_URL: platform.baseUrl,
  HOLDFAST_TOKEN: platform.acme.token,
})
const runAsAcme = (cluster: LabPlatform, words: readonly string[], options: CliOptions = {}) =>
  runCli(words, { ...options, env: asAcme(cluster) })

/** Runs beside other concurrent suites. */
export function testCli(cluster: () => LabPlatform): void {
  const cli = (words: readonly string[], options?: CliOptions) => runAsAcme(cluster(), words, options)

  describe('the CLI', { concurrent: true }, () => {
    test('applies a deployment, reads its logs and executes a command in it', inTurn(180_000), async () => {
      const command = JSON.stringify(['sh', '-c', 'echo hello from inside; exec sleep 3600'])
      const input = `kind: Deployment\nname: web\nimage: ${cluster().image}\ncommand: ${command}\nstopGracePeriod: 1s\n`
      const applied = await cli(['apply', '-f', '-', '--wait'], { input })
      expect(applied).toMatchObject({ code: 0, stdout: 'deployment/web created\ndeployment/web running\n' })
      expect(await cli(['logs', 'web'])).toEqual({
        code: 0,
        stdout: '1 | hello from inside\n',
        stderr: '',
      })
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
      const { stdout: described } = await cli(['describe', 'web'])
      const [node = ''] = /acme-\d/.exec(described) ?? []
      expect((await cli(['node', 'containers', node])).stdout).toMatch(/web +running +yes/)
      expect(await cli(['delete', 'web', '--wait'])).toMatchObject({ code: 0 })
    })

    const terminal =
      'opens a shell in a container at a real terminal, with prompt, window size and clean exit'
    test(terminal, inTurn(180_000), async () => {
      const command = JSON.stringify(['sh', '-c', 'while true; do echo tick; sleep 1; done'])
      const input = `kind: Deployment\nname: shell\nimage: ${cluster().image}\ncommand: ${command}\nstopGracePeriod: 1s\n`
      expect(await cli(['apply', '-f', '-', '--wait'], { input })).toMatchObject({ code: 0 })
      await useShell(cluster())
      expect(await cli(['delete', 'shell', '--wait'])).toMatchObject({ code: 0 })
    })

    const causes = 'names the cause of every failure in --wait, describe, why, events and the API'
    test(causes, inTurn(inRun(300_000, 900_000)), async () => {
      // A long run prints times, so each engine has one failure at a time.
      const lanes = LONG
        ? [1, 2].map((number) => RUNS.filter(({ node }) => node === `acme-${number}`))
        : RUNS.map((run) => [run])
      const runs = (await Promise.all(lanes.map((lane) => runInTurn(cluster(), lane)))).flat()
      // All failures are listed at once, because each run of this test takes long.
      expect(runs.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []))).toEqual([])
      const rows = runs.flatMap((run) => (run.status === 'fulfilled' ? [run.value] : []))
      console.log([...rows.map(describeRow), `load of the machine: ${loadavg().join(' ')}`].join('\n'))
      // On a busy machine a log may not be read in time; --wait then ends without it.
      expect(rows.filter(({ hasLog }) => hasLog).length).toBeGreaterThan(0)
    })
  })
}

/** One test after the other, although other suites run at the same time. */
const inTurn = (timeout: number) => ({ concurrent: false, timeout })

/** Uses the shell of the deployment `shell` at a terminal. */
async function useShell(cluster: LabPlatform): Promise<void> {
  const screen = await openScreen(asAcme(cluster), 90, 20)
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
}

/** In CI each failure happens on one of the two engine lines, in turn; in a long run on both. */
const RUNS = FAILING.filter(({ isSlow }) => LONG || isSlow !== true).flatMap((failing, at) =>
  (LONG ? [1, 2] : [1 + (at % 2)]).map((number) => ({ failing, node: `acme-${number}` })),
)

async function runInTurn(cluster: LabPlatform, lane: readonly (typeof RUNS)[number][]) {
  const runs: PromiseSettledResult<Awaited<ReturnType<typeof runFailing>>>[] = []
  for (const { failing, node } of lane)
    runs.push(...(await Promise.allSettled([runFailing(cluster, failing, node)])))
  return runs
}

const describeRow = ({
  name,
  waitMs,
  exitMs,
  cause,
  lastExit,
}: Awaited<ReturnType<typeof runFailing>>): string =>
  `${name} | ${cause} | ${lastExit} | --wait ended ${waitMs} ms after the failure, ${exitMs ?? '-'} ms after the third exit`

async function runFailing(cluster: LabPlatform, failing: Failing, node: string) {
  const name = `${failing.name}-${node}`
  const api = cluster.api('acme')
  const waited = await startFailing(cluster, failing, name, node)
  const endedAt = Date.now()
  expect(waited.stderr, name).toMatch(failing.cause)
  expect(waited, name).toMatchObject({ code: 4 })
  const { status } = (await api.get(`/api/v1/deployments/${name}`)).body as { status: FailedStatus }
  expect(status.failure?.cause, name).toMatch(failing.cause)
  expect(waited.stderr, name).toMatch(/^next: holdfast (?:logs|describe) /m)
  const [described, why, events, placements] = await Promise.all([
    runAsAcme(cluster, ['describe', name]),
    runAsAcme(cluster, ['why', name]),
    api.get(`/api/v1/events?type=deployment.failed&subject=${name}`),
    api.get(`/api/v1/deployments/${name}/placements`),
  ])
  expect(described.stdout, name).toMatch(failing.cause)
  expect(described.stdout, name).toMatch(failing.lastExit)
  expect(why.stdout, name).toMatch(failing.cause)
  expect(events.body, name).toMatchObject({
    items: [{ count: 1, data: { cause: expect.stringMatching(failing.cause) } }],
  })
  expect(placements.body, name).toMatchObject({ items: [failing.placement] })
  await runAsAcme(cluster, ['delete', name])
  const hasLog = failing.log !== undefined && waited.stderr.includes(`\n  ${failing.log}\n`)
  const waitMs = endedAt - Date.parse(status.failure?.at ?? '')
  // A later exit replaces the third one in the record.
  const [placed] = Object(placements.body).items
  const exitMs =
    placed?.restarts === 3 && placed.lastExit !== undefined
      ? endedAt - Date.parse(placed.lastExit.at)
      : undefined
  const [lastExit] = failing.lastExit.exec(described.stdout) ?? []
  return { name, hasLog, waitMs, exitMs, cause: status.failure?.cause, lastExit }
}

interface FailedStatus {
  readonly failure?: { readonly cause?: string; readonly at: string }
}

/** Applies the deployment and waits for it with the CLI. */
async function startFailing(
  cluster: LabPlatform,
  failing: Failing,
  name: string,
  node: string,
): Promise<CliRun> {
  const { registry } = cluster.lab
  const { reference, digest } = await registry.pushBusyboxImage(`acme/${name}`, '1', failing.image ?? {})
  const { id: nodeId } = await nodeCalled(cluster, node)
  const { isImageGone, isKilled } = failing
  const replicas = isImageGone === true ? 0 : 1
  const manifest = { kind: 'Deployment', name, image: reference, nodeId, replicas, ...failing.spec }
  const input = JSON.stringify(manifest)
  if (isImageGone === true) {
    await runAsAcme(cluster, ['apply', '-f', '-'], { input })
    await registry.deleteManifest(`acme/${name}`, digest)
    return runAsAcme(cluster, ['scale', name, '1', '--wait'])
  }
  const waiting = runAsAcme(cluster, ['apply', '-f', '-', '--wait'], { input, timeoutMs: 150_000 })
  if (isKilled === true) await killWhileUp(cluster.api('acme'), name, cluster.node(node).socketPath)
  return waiting
}
