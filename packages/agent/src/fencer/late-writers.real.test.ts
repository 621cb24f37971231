// How soon the fencer kills a process that appears behind a fence: the kernel decides it, and any other work of the machine
// delays it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { uniqueName } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, onTestFinished, test } from 'vitest'
import { bootClockMs } from './boot-clock.ts'
import {
  endOf,
  groupOf,
  HIERARCHIES,
  makeCgroup,
  removeCgroup,
  runIn,
  startFencer,
  writesIn,
  writing,
} from './fencer.fixture.ts'

const KILLED_MS = 100

test.each(HIERARCHIES.map(({ hierarchy }) => hierarchy))(
  'a process that appears behind a fence in %s is killed within 100 ms',
  async (hierarchy) => {
    const fencer = await startFencer()
    const [cgroup, name] = [makeCgroup(hierarchy), uniqueName('vol')]
    onTestFinished(async () => {
      await removeCgroup(cgroup)
      await fencer.remove()
    })
    await fencer.link.renew([groupOf(name, 1, [cgroup])])
    await fencer.until('it is fenced', ({ fences }) => fences.get(name)?.emptyMs !== undefined)
    const lives: number[] = []
    for (let count = 0; count < inRun(5, 100); count += 1) {
      const file = join(fencer.folder, uniqueName('file'))
      await endOf(runIn(cgroup, `echo $(cat /proc/uptime) >> ${file}; ${writing(file)}`))
      // A process that was killed before its first write has no file.
      const { firstMs, lastMs } = existsSync(file) ? writesIn(file) : { firstMs: 0, lastMs: 0 }
      lives.push(Math.round(lastMs - firstMs))
    }
    process.stdout.write(`fencer, ${hierarchy}: late writers wrote for ${lives.join(', ')} ms\n`)
    // The machine may stall in one of the rounds.
    const median = lives.toSorted((a, b) => a - b)[Math.floor(lives.length / 2)]
    expect(median).toBeLessThanOrEqual(KILLED_MS)
    await fencer.link.renew([groupOf(name, bootClockMs() + 60_000, [cgroup])])
    await fencer.until('the fence is lifted', ({ fences }) => !fences.has(name))
  },
)
