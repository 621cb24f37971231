// Reads how a job's container ended, before its end is reported: an engine that restarts may record an end that it did
// not see. See docs/design/jobs.md#containers

import type { DesiredItem } from '@holdfast/contract'
import { deriveExit, mayBePlaceholder, runsOnce } from '@holdfast/core/node'
import type { Engine, InspectedContainer } from '../ports/engine.ts'
import type { ExitNote, ExitNotes } from './exit-notes.ts'

export interface ReadEnd {
  /** The container without an exit code if no engine saw its end. */
  readonly found: InspectedContainer
  readonly note: ExitNote | undefined
}

/**
 * Rejects if the engine does not answer: then nothing is known about the end, and nothing may be reported. `item`: undefined
 * while it is unknown whether the container is that of a job.
 */
export async function readEnd(
  engine: Pick<Engine, 'version' | 'findExit'>,
  exits: Pick<ExitNotes, 'of' | 'noteExit'>,
  item: DesiredItem | undefined,
  found: InspectedContainer,
): Promise<ReadEnd> {
  const { id, exitCode: recorded } = found
  const isJob = item === undefined || runsOnce(item.template)
  if (!isJob || recorded === null || !mayBePlaceholder(recorded)) return { found, note: exits.of(id) }
  const note = await readNote(engine, exits, id)
  const version = note === undefined ? await engine.version() : undefined
  const exitCode = deriveExit({ recorded, announced: note?.code, ...version })
  if (exitCode !== undefined) return { found: { ...found, exitCode }, note }
  return { found: { ...found, exitCode: null, isEndUnknown: true }, note: undefined }
}

/** The exit that the engine announced. One that the agent missed is kept, because the engine forgets old events. */
async function readNote(
  engine: Pick<Engine, 'findExit'>,
  exits: Pick<ExitNotes, 'of' | 'noteExit'>,
  containerId: string,
): Promise<ExitNote | undefined> {
  const known = exits.of(containerId)
  if (known !== undefined) return known
  const code = await engine.findExit(containerId)
  // The event may have arrived during the call, with more facts than the history has.
  if (code !== undefined && exits.of(containerId) === undefined) exits.noteExit(containerId, code)
  return exits.of(containerId)
}
