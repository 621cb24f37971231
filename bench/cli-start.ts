// Measures how long the command line takes to start, beyond Node itself: as it is packaged and as a single binary.
// bench/README.md explains how to run and read it.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exit, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { makeTempFolder } from '@holdfast/testkit'
import { writeBinaries } from '../scripts/package/binary/write-binaries.ts'
import { bundleCli } from '../scripts/package/bundles/bundle-cli.ts'
import { engineBinaries, INSTALLED_NODE } from '../scripts/package/gather-built.ts'
import { launcher } from '../scripts/package/package-plan.ts'
import { releaseFacts } from '../scripts/package/release-facts.ts'
import { coresWhileIdle } from './lib/cpu.ts'
import { median } from './lib/stats.ts'

const LIMIT_MS = 150
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, check: { type: 'boolean', default: false } },
})
const folder = makeTempFolder('cli-start')

interface Side {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** Name of the side whose time is subtracted. */
  readonly bare?: string
  readonly times: number[]
}

const [[, node26] = ['', '']] = engineBinaries('node')
const { packaged, binary } = await build()
const side = (name: string, command: Side['command'], bare?: string): Side => ({
  name,
  command,
  ...(bare === undefined ? {} : { bare }),
  times: [],
})
const sides = [
  side('Node 24', [INSTALLED_NODE, '-e', '0']),
  side('packaged, version', [packaged, 'version', '--client'], 'Node 24'),
  side('packaged, --help', [packaged, '--help'], 'Node 24'),
  side('Node 26', [node26, '-e', '0']),
  side('single binary, version', [binary, 'version', '--client'], 'Node 26'),
  side('single binary, --help', [binary, '--help'], 'Node 26'),
]

stdout.write(`cores busy while idle ${(await coresWhileIdle()).toFixed(2)}\n`)
// The first round reads the files from the disk.
for (let round = 0; round <= Number(values.rounds); round += 1)
  for (const { command, times } of sides) {
    const ms = measure(command)
    if (round > 0) times.push(ms)
  }
const beyond = sides.map(({ bare, times }) => {
  const base = sides.find(({ name }) => name === bare)
  return base === undefined ? 0 : median(times) - median(base.times)
})
for (const [index, { name, times, bare }] of sides.entries())
  stdout.write(
    `${name.padEnd(24)} ${median(times).toFixed(0).padStart(5)} ms` +
      `${bare === undefined ? '' : `, ${(beyond[index] ?? 0).toFixed(0)} ms beyond ${bare}`}\n`,
  )
folder.remove()
const reached = Math.max(...beyond) <= LIMIT_MS
stdout.write(`${reached ? 'reached' : 'not reached'}: at most ${LIMIT_MS} ms beyond Node\n`)
exit(values.check && !reached ? 1 : 0)

function measure([file, ...words]: Side['command']): number {
  const started = performance.now()
  const { status, stderr } = spawnSync(file, words, {
    cwd: folder.path,
    env: { HOME: folder.path, PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${file} ${words.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - started
}

/** The launcher of the package with the same Node and the same files, and the single binary. */
async function build(): Promise<{ readonly packaged: string; readonly binary: string }> {
  const [bundle, into] = [join(folder.path, 'bundle'), join(folder.path, 'into')]
  await bundleCli(bundle)
  mkdirSync(into)
  const packaged = join(folder.path, 'holdfast')
  writeFileSync(packaged, launcher(INSTALLED_NODE, join(bundle, 'holdfast.mjs')), { mode: 0o755 })
  const source = { command: 'holdfast', bundle: join(bundle, 'holdfast.mjs') }
  await writeBinaries([source], releaseFacts(), { into, work: join(folder.path, 'work') })
  const [file = ''] = readdirSync(into)
  return { packaged, binary: join(into, file) }
}
