// Reads the usage of containers from their cgroup files, v1 or v2, and that of the machine from /proc.
// See docs/design/usage.md#reading

import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CgroupFolders,
  type ContainerReading,
  cgroupFolders,
  memoryInUse,
  parseBusyTicks,
  parseCount,
  parseLoadMillis,
  parseMemoryInUse,
  parseNetwork,
  parseStat,
} from '@holdfast/core/node'
import type { MachineReading, UsageReader } from '../../ports/usage.ts'

interface Roots {
  readonly proc: string
  readonly cgroup: string
}

const ROOTS: Roots = { proc: '/proc', cgroup: '/sys/fs/cgroup' }
/** The kernel reports times to programs in hundredths of a second. */
const TICK_MS = 10
/** A file system that does not answer must not delay the other samples. */
const DISK_MS = 500

/** `folder`: a folder on the file system whose space is reported. */
export const createUsageReader = (folder: string, roots: Roots = ROOTS): UsageReader => ({
  container: (containerId, pid) => readContainer(roots, containerId, pid),
  machine: () => readMachine(roots, folder),
})

/** A container that ends during the reading loses its files, so any of them may be missing. */
function readText(...path: string[]): string | undefined {
  try {
    return readFileSync(join(...path), 'latin1')
  } catch {
    return undefined
  }
}

function readContainer(
  { proc, cgroup }: Roots,
  containerId: string,
  pid: number,
): ContainerReading | undefined {
  const folders = cgroupFolders(readText(proc, String(pid), 'cgroup') ?? '', containerId)
  if (folders === undefined) return undefined
  const { version, memory, pids } = folders
  const usage = version === 1 ? 'memory.usage_in_bytes' : 'memory.current'
  const cpu = readCpu(cgroup, folders)
  const memoryBytes = memoryInUse(
    version,
    readText(cgroup, memory, usage) ?? '',
    readText(cgroup, memory, 'memory.stat') ?? '',
  )
  if (cpu === undefined || memoryBytes === undefined) return undefined
  return {
    ...cpu,
    memoryBytes,
    pids: parseCount(readText(cgroup, pids, 'pids.current') ?? ''),
    ...parseNetwork(readText(proc, String(pid), 'net', 'dev') ?? ''),
  }
}

function readCpu(
  cgroup: string,
  { version, cpu, cpuacct }: CgroupFolders,
): Pick<ContainerReading, 'cpuNanos' | 'periods' | 'throttled'> | undefined {
  const stat = readText(cgroup, cpu, 'cpu.stat') ?? ''
  const micros = parseStat(stat, 'usage_usec')
  const cpuNanos =
    version === 1
      ? parseCount(readText(cgroup, cpuacct, 'cpuacct.usage') ?? '')
      : micros === undefined
        ? undefined
        : micros * 1000
  if (cpuNanos === undefined) return undefined
  return { cpuNanos, periods: parseStat(stat, 'nr_periods'), throttled: parseStat(stat, 'nr_throttled') }
}

async function readMachine({ proc }: Roots, folder: string): Promise<MachineReading> {
  const ticks = parseBusyTicks(readText(proc, 'stat') ?? '')
  return {
    busyMs: ticks === undefined ? undefined : ticks * TICK_MS,
    memoryBytes: parseMemoryInUse(readText(proc, 'meminfo') ?? ''),
    loadMillis: parseLoadMillis(readText(proc, 'loadavg') ?? ''),
    ...(await readDisk(folder)),
  }
}

async function readDisk(folder: string): Promise<Pick<MachineReading, 'diskUsedBytes' | 'diskBytes'>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, DISK_MS, undefined)
  })
  const found = await Promise.race([statfs(folder).catch(() => undefined), late])
  clearTimeout(timer)
  if (found === undefined) return {}
  const { blocks, bfree, bsize } = found
  return { diskUsedBytes: (blocks - bfree) * bsize, diskBytes: blocks * bsize }
}
