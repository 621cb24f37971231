// Reads OOM kills from the kernel's log. The kernel logs a kill before the process dies, so the line of a container that
// the engine reports as dead is there. See docs/design/agent.md#oom-kills

import { spawnSync } from 'node:child_process'
import { constants, fstatSync, openSync, readSync } from 'node:fs'
import { oomKilledContainer } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { OomKills } from '../../ports/oom-kills.ts'

const KERNEL_LOG = '/dev/kmsg'
const STDIN = 0
/** Device 1:11 of Linux. */
const KERNEL_LOG_DEVICE = 0x10b
const DD_MS = 5_000
/** The longest record that the kernel returns. A read with less room fails. */
const MAX_RECORD = 8192
/** Records read in one call, so that a kernel that logs without end does not block the agent. */
const MAX_READS = 50_000
/** Kills are remembered until the engine reports the exit. Those of containers of others are never asked for. */
const MAX_REMEMBERED = 256

/** Opens the kernel's log. Without permission to read it, only the engine's own reports of OOM kills are used. */
export function openOomKills(log: Logger): OomKills | undefined {
  try {
    // One read returns one record; without waiting, because a read at the end of the log would block the agent.
    const file = isStdin()
      ? readStdinWithoutWaiting()
      : openSync(KERNEL_LOG, constants.O_RDONLY | constants.O_NONBLOCK)
    return createOomKills((into) => readSync(file, into))
  } catch (error) {
    log.warn(
      { message: String(error) },
      'kernel log is not readable, OOM kills right after a start may be missed',
    )
    return undefined
  }
}

/** Whether the unit opened the kernel's log as stdin, so that the agent needs no right to open it. */
const isStdin = (): boolean => fstatSync(STDIN).rdev === KERNEL_LOG_DEVICE

/** Node cannot change the flags of an open file. dd can, and the file is shared with it. */
function readStdinWithoutWaiting(): number {
  const { status } = spawnSync('dd', ['iflag=nonblock', 'count=0'], {
    stdio: [STDIN, 'ignore', 'ignore'],
    timeout: DD_MS,
  })
  if (status !== 0)
    throw new Error('stdin is the kernel log, and dd could not set it to read without waiting')
  return STDIN
}

/** `read`: reads the next record into the buffer and returns its length; throws EAGAIN at the end of the log. */
export function createOomKills(read: (into: Buffer) => number): OomKills {
  const record = Buffer.allocUnsafe(MAX_RECORD)
  const killed = new Set<string>()
  const readNew = (): void => {
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const length = readRecord(read, record)
      if (length === 'end') return
      const id = oomKilledContainer(record.toString('latin1', 0, length))
      if (id !== undefined) remember(killed, id)
    }
  }
  readNew()
  // Kills from before the agent's start belong to exits that it does not report.
  killed.clear()
  return {
    take(containerId) {
      readNew()
      return killed.delete(containerId)
    },
  }
}

function readRecord(read: (into: Buffer) => number, record: Buffer): number | 'end' {
  try {
    return read(record)
  } catch (error) {
    // EPIPE: the kernel has overwritten records that were not read; the next read returns the oldest that is left.
    return error instanceof Error && 'code' in error && error.code === 'EPIPE' ? 0 : 'end'
  }
}

function remember(killed: Set<string>, id: string): void {
  killed.delete(id)
  killed.add(id)
  const [oldest] = killed
  if (killed.size > MAX_REMEMBERED && oldest !== undefined) killed.delete(oldest)
}
