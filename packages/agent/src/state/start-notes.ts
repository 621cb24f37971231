// Remembers the assignments whose containers run once and were started on this node. A container of such an assignment may
// be removed by another program before its end was reported; without the note, the agent would run the job again.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AssignmentId, decode, list, object, string } from '@holdfast/contract'
import type { Logger } from 'pino'
import { writeDurably } from './durable-file.ts'

const FILE = 'started-jobs.json'
const fileShape = object({ started: list(string()) })

export interface StartNotes {
  has(id: AssignmentId): boolean
  /** Resolves when the note is on disk. Rejects if it cannot be written: the container must not be started then. */
  note(id: AssignmentId): Promise<void>
  forget(id: AssignmentId): Promise<void>
  /** Drops the notes of assignments that are no longer desired. */
  keepOnly(ids: { has(id: AssignmentId): boolean }): void
}

export async function openStartNotes(folder: string, log: Logger): Promise<StartNotes> {
  const path = join(folder, FILE)
  const started = new Set(await readNotes(path))
  let writing = Promise.resolve()
  const save = (): Promise<void> => {
    const written = writing.then(() => writeDurably(path, JSON.stringify({ started: [...started] })))
    // The next write contains everything, so it does not depend on the success of this one.
    writing = written.catch((error: unknown) =>
      log.error({ message: String(error) }, 'notes of started jobs write failed'),
    )
    return written
  }
  return {
    has: (id) => started.has(id),
    async note(id) {
      started.add(id)
      await save()
    },
    async forget(id) {
      if (started.delete(id)) await save()
    },
    keepOnly(ids) {
      const gone = [...started].filter((id) => !ids.has(id))
      for (const id of gone) started.delete(id)
      if (gone.length > 0) void save().catch(() => undefined)
    },
  }
}

/** A file that cannot be read stops the agent: without it, a job might run twice. */
async function readNotes(path: string): Promise<AssignmentId[]> {
  try {
    return decode(fileShape, JSON.parse(await readFile(path, 'utf8'))).started as AssignmentId[]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
