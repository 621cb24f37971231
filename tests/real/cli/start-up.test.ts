// How soon the released CLI starts: the kernel decides it, which starts the process and reads the file.

import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import { bundledCli } from '@holdfast/testkit/cli/run-cli'
import { expect, test } from 'vitest'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')
const run = promisify(execFile)
const RUNS = 8
const ALLOWED_MS = 150
/** Start-up time of Node alone, in milliseconds, on an idle machine with two cores. */
const CALM_NODE_MS = 35

async function startMs(words: readonly string[], variables: { [name: string]: string }): Promise<number> {
  const begun = performance.now()
  await run(NODE, [...words], { env: { PATH: env.PATH ?? '', HOME: '/nonexistent', ...variables } })
  return performance.now() - begun
}

/** Measures start-up times. The median is printed; the minimum is asserted, because load affects it least. */
async function measure(starts: readonly (readonly string[])[], variables: { [name: string]: string }) {
  const times = starts.map((): number[] => [])
  for (let round = 0; round < RUNS; round += 1)
    for (const [at, words] of starts.entries()) times[at]?.push(await startMs(words, variables))
  return times.map((each) => {
    const sorted = each.sort((left, right) => left - right)
    return { median: sorted[RUNS / 2] ?? Number.NaN, least: sorted[0] ?? Number.NaN }
  })
}

test('help and a list start within 150 ms of bare node', async () => {
  const empty = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[],"nextCursor":null}')
  })
  await new Promise<void>((resolve) => empty.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(empty.address() as AddressInfo).port}`
  const cli = await bundledCli()
  const starts = [
    ['-e', '0'],
    [cli, '--help'],
    [cli, 'get', 'deployments'],
  ]
  const [bare, help, get] = await measure(starts, { HOLDFAST_URL: url })
  empty.close()
  if (bare === undefined || help === undefined || get === undefined) throw new Error('nothing was measured')
  const shownMs = ({ median }: { median: number }) =>
    `${median.toFixed(0)} ms (x${(median / bare.median).toFixed(1)})`
  console.info(
    `start-up: bare node ${shownMs(bare)}, --help ${shownMs(help)}, get deployments ${shownMs(get)}`,
  )
  // A busy machine starts everything more slowly, so the limit grows with the start-up time of Node alone.
  const allowed = ALLOWED_MS * Math.max(1, bare.least / CALM_NODE_MS)
  expect(help.least - bare.least).toBeLessThan(allowed)
  expect(get.least - bare.least).toBeLessThan(allowed)
}, 120_000)
