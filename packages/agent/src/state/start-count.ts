// Counts the agent's starts, so that its observations have higher sequence numbers than those of earlier starts. A full disk
// does not keep the agent from starting: the number is written over the earlier one, which needs no space, and if that fails
// too it is in memory until it can be written. See docs/design/disks.md#a-full-disk

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readIfExists, writeDurably } from './durable-file.ts'
import { createSaver } from './saver.ts'

const FILE = 'starts'
/** The file has room for every number, so that a later one replaces it without a change of size. */
const WIDTH = 16
/** A number above every real count of starts, and low enough for the sequence numbers that are computed from it. */
const SURELY_UNUSED_START = 1_000_000

export interface StartCount {
  readonly number: number
  /** Whether the number is on disk. Until then the next start would have the same number. */
  isSaved(): boolean
  close(): Promise<void>
}

/** Throws if the count is unreadable: a number that is used twice makes old reports and old promises look new. */
export async function countStart(folder: string, log: Logger, retryMs?: number): Promise<StartCount> {
  const path = join(folder, FILE)
  const text = (await readIfExists(path)) ?? '0'
  const before = /^\d+\s*$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(before)) throw new Error(unreadableStarts(path))
  const number = before + 1
  let isSaved = false
  const saver = createSaver({
    async write() {
      if (isSaved) return
      await writeNumber(path, number)
      isSaved = true
    },
    onFailed: (error) => log.error({ path, message: String(error) }, 'start count write failed, retrying'),
    onSaved: () => log.info({ path }, 'start count written'),
    ...(retryMs !== undefined && { retryMs }),
  })
  saver.save()
  await saver.settled()
  return { number, isSaved: () => isSaved, close: saver.close }
}

/** Reserves the file of an enrolled node, so that its first start can write on a full disk. Keeps an existing count. */
export async function reserveStartCount(folder: string): Promise<void> {
  const path = join(folder, FILE)
  if ((await readIfExists(path)) === undefined) await writeDurably(path, padded(0))
}

const padded = (number: number, width = WIDTH): string => String(number).padEnd(width)

async function writeNumber(path: string, number: number): Promise<void> {
  try {
    await writeDurably(path, padded(number))
  } catch (error) {
    // Explains the first failure: the second only says that there was no other way.
    await overwrite(path, number).catch(() => {
      throw error
    })
  }
}

/** Overwrites the number in its place. The size stays, and so few bytes are never written in part. */
async function overwrite(path: string, number: number): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const { size } = await file.stat()
    const text = padded(number, size)
    if (text.length !== size) throw new Error(`The file has only ${size} bytes.`)
    await file.write(text, 0)
    await file.sync()
  } finally {
    await file.close()
  }
}

const unreadableStarts = (path: string): string =>
  `The file ${path} does not contain the number of starts of this agent, and no number may be used twice. Check the disk of ` +
  `this machine, write a number into the file that is higher than every earlier one, for example ${SURELY_UNUSED_START}, ` +
  'and start the agent again.'
