// Remembers the assignments whose containers run once and were started on this node. A container of such an assignment may
// be removed by another program before its end was reported; without the note, the agent would run the job again.

import { join } from 'node:path'
import {
  type AssignmentId,
  branded,
  decode,
  type Infer,
  integer,
  list,
  object,
  optional,
  string,
} from '@holdfast/contract'
import type { Logger } from 'pino'
import { readIfExists, writeDurably } from './durable-file.ts'

const FILE = 'started-jobs.json'
/** `revision`: the newest store revision that the agent knew at the start. */
const noteShape = object({ id: branded<AssignmentId>(), containerId: string(), revision: integer() })
/** Agents before this form wrote only `started`, and read only that. */
const fileShape = object({ started: list(branded<AssignmentId>()), notes: optional(list(noteShape)) })
type Note = Infer<typeof noteShape>

export interface StartNotes {
  has(id: AssignmentId): boolean
  /** The container that was started. Undefined if none was, or an older agent started it. */
  containerOf(id: AssignmentId): string | undefined
  /**
   * Resolves when the note is on disk, with true. Rejects if it cannot be written: the container must not be started then.
   * Resolves with false if another container of the assignment was started.
   */
  note(id: AssignmentId, containerId: string): Promise<boolean>
  forget(id: AssignmentId): Promise<void>
  /**
   * Called with the store revision of every desired set. A complete set of the server drops the notes of the assignments that
   * it does not name, unless it is older than the note: then the server may not have known the assignment yet.
   */
  applySet(revision: number, complete?: { has(id: AssignmentId): boolean }): void
}

export async function openStartNotes(folder: string, log: Logger): Promise<StartNotes> {
  const path = join(folder, FILE)
  const notes = new Map((await readNotes(path)).map((note) => [note.id, note]))
  let newest = 0
  let writing = Promise.resolve()
  const save = (): Promise<void> => {
    const written = writing.then(() => writeDurably(path, encodeNotes([...notes.values()])))
    // The next write contains everything, so it does not depend on the success of this one.
    writing = written.catch((error: unknown) =>
      log.error({ message: String(error) }, 'notes of started jobs write failed'),
    )
    return written
  }
  return {
    has: (id) => notes.has(id),
    containerOf: (id) => notes.get(id)?.containerId,
    async note(id, containerId) {
      const before = notes.get(id)
      if ((before?.containerId ?? containerId) !== containerId) return false
      notes.set(id, { id, containerId, revision: newest })
      await save().catch((error: unknown) => {
        // The container is not started, so the next attempt must find that it never was.
        if (before === undefined) notes.delete(id)
        throw error
      })
      return true
    },
    async forget(id) {
      if (notes.delete(id)) await save()
    },
    applySet(revision, complete) {
      newest = Math.max(newest, revision)
      if (complete === undefined) return
      const gone = [...notes.values()].filter((note) => !complete.has(note.id) && revision >= note.revision)
      for (const { id } of gone) notes.delete(id)
      if (gone.length > 0) void save().catch(() => undefined)
    },
  }
}

/** A note of an older agent has no container, and the revision 0. */
type ReadNote = Omit<Note, 'containerId'> & Partial<Pick<Note, 'containerId'>>

const encodeNotes = (notes: readonly ReadNote[]): string =>
  JSON.stringify({
    started: notes.map(({ id }) => id),
    notes: notes.filter(({ containerId }) => containerId !== undefined),
  })

/** A file that cannot be read stops the agent: without it, a job might run twice. */
async function readNotes(path: string): Promise<ReadNote[]> {
  const text = await readIfExists(path)
  if (text === undefined) return []
  const { started, notes = [] } = decode(fileShape, JSON.parse(text))
  const known = new Map(notes.map((note) => [note.id, note]))
  return started.map((id) => known.get(id) ?? { id, revision: 0 })
}
