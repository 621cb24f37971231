// Watches the writers of all machines of a lab from outside. All machines share this host's kernel, so the host sees each
// process of each container, whatever Holdfast reports. A process of its own takes the samples.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { engineBinary, type Lab, makeTempFolder, startEngineProcess, waitUntil } from '@holdfast/testkit'
import { bootClockMs } from '../lab/lab-disks.ts'
import { cgroupOf } from '../lab/lab-leftovers.ts'
import { WITNESS, WITNESS_GROUP } from './witness.ts'

/**
 * The writers from a sample on: `group host` of containers by machine. Machines without a running writer are absent.
 */
export interface WriterSample {
  readonly atMs: number
  readonly writers: { readonly [node: string]: readonly string[] }
}

/** A time in which two containers of a group could write at once. */
export interface Overlap {
  readonly group: string
  readonly fromMs: number
  /** Absent if it has not ended. */
  readonly toMs: number | undefined
  readonly nodes: readonly string[]
}

export interface WriterWatch {
  /** Every change of the writers so far. Includes a sample that was taken after the call. */
  samples(): Promise<WriterSample[]>
  /** The machine on which each container ran, by the container's host name. */
  nodeOfHost(): Promise<Map<string, string>>
  /** The longest time between two samples. An overlap that is shorter can be missed. */
  longestGapMs(): Promise<number>
  stop(): Promise<void>
}

export async function watchWriters(lab: Lab): Promise<WriterWatch> {
  const folder = makeTempFolder('writers')
  const logFile = join(folder.path, 'samples')
  const machines = lab.nodes.map(({ name, namespace }) => `${name}=${cgroupOf(namespace)}`)
  const program = join(import.meta.dirname, 'observe-writers.ts')
  // The observer runs before all ordinary processes, so that a busy machine hides no overlap from it.
  const observer = startEngineProcess({
    binary: engineBinary('chrt'),
    args: ['--fifo', '1', process.execPath, program, WITNESS, WITNESS_GROUP, ...machines],
    logFile,
  })
  const giveUp = () => (observer.hasExited() ? observer.logTail() : undefined)
  /** All lines, once one is newer than this call. */
  const readNow = async (): Promise<object[]> => {
    const asked = bootClockMs()
    return waitUntil(
      () => {
        const lines = readSamples(logFile)
        return lines.some((line) => Object(line).atMs > asked) ? lines : undefined
      },
      { what: 'the observer of the writers reports', giveUp },
    )
  }
  const samples = async () => (await readNow()).filter((line): line is WriterSample => 'writers' in line)
  await readNow()
  return {
    samples,
    async nodeOfHost() {
      const pairs = (await samples()).flatMap(({ writers }) => Object.entries(writers))
      return new Map(pairs.flatMap(([node, hosts]) => hosts.map((each) => [hostOf(each), node] as const)))
    },
    async longestGapMs() {
      return Math.max(...(await readNow()).map((line) => Number(Object(line).longestGapMs ?? 0)))
    },
    async stop() {
      await observer.kill()
      folder.remove()
    },
  }
}

function readSamples(file: string): object[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => Object(JSON.parse(line)))
}

const groupOf = (writer: string): string => writer.split(' ')[0] ?? ''
const hostOf = (writer: string): string => writer.split(' ')[1] ?? ''

/** The times in which more than one container of a group had a running writer, on one machine or on several. */
export function overlapsIn(samples: readonly WriterSample[]): Overlap[] {
  return samples.flatMap(({ atMs, writers }, index) => {
    const all = Object.entries(writers).flatMap(([node, names]) => names.map((name) => ({ node, name })))
    const groups = Map.groupBy(all, ({ name }) => groupOf(name))
    return [...groups].flatMap(([group, members]) => {
      const nodes = members.map(({ node }) => node)
      return nodes.length > 1 ? [{ group, fromMs: atMs, toMs: samples[index + 1]?.atMs, nodes }] : []
    })
  })
}

const hasWriter = ({ writers }: WriterSample, node: string, group: string): boolean =>
  writers[node]?.some((name) => groupOf(name) === group) ?? false

/** When the last writer of a group on a machine ended; undefined if one still runs or none ever ran. */
export function lastEnd(samples: readonly WriterSample[], node: string, group: string): number | undefined {
  const last = samples.findLastIndex((sample) => hasWriter(sample, node, group))
  return last === -1 ? undefined : samples[last + 1]?.atMs
}

/** When a writer of a group was first seen on a machine at or after a time. */
export const firstStart = (
  samples: readonly WriterSample[],
  node: string,
  group: string,
  fromMs: number,
): number | undefined =>
  samples.find((sample) => sample.atMs >= fromMs && hasWriter(sample, node, group))?.atMs
