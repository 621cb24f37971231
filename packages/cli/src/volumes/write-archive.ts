// Writes a downloaded tar archive to a file. The bytes go to a neighbor of the file, which is renamed only if the stream
// ended properly and has the end mark of an archive, so a file with the given name is always complete.

import { lstat, open, rename, rm } from 'node:fs/promises'
import type { ByteStream, StreamEnd } from '@holdfast/client'

/** An archive ends with at least two blocks of zeros. */
const END_MARK_BYTES = 1024

/** Why nothing can be written to the file, before anything is requested; undefined if something can. */
export async function takenReason(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined)
  return found && 'it exists already; remove it or choose another name'
}

/** Returns the length, or why there is no file. */
export async function writeArchive(
  file: string,
  chunks: ByteStream,
): Promise<{ readonly bytes: number } | string> {
  const draft = `${file}.part`
  try {
    const written = await writeDraft(draft, chunks)
    if (typeof written !== 'string') await rename(draft, file)
    return written
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await chunks.return({ kind: 'interrupted' })
    await rm(draft, { force: true })
  }
}

async function writeDraft(draft: string, chunks: ByteStream): Promise<{ readonly bytes: number } | string> {
  const output = await open(draft, 'w', 0o600)
  let [bytes, zeros] = [0, 0]
  try {
    for (;;) {
      const { done, value } = await chunks.next()
      if (done === true) {
        const why = incompleteReason(value, zeros)
        if (why === undefined) await output.sync()
        return why ?? { bytes }
      }
      await output.write(value)
      bytes += value.length
      zeros = zerosAtEnd(value, zeros)
    }
  } finally {
    await output.close()
  }
}

function incompleteReason(end: StreamEnd, zeros: number): string | undefined {
  if (end.kind === 'interrupted') return 'the download was interrupted'
  if (end.kind === 'cut') return `the download broke: ${end.reason}; start it again`
  return zeros < END_MARK_BYTES
    ? 'the archive has no end, so it is incomplete; start the download again'
    : undefined
}

/** The number of zeros at the end of all bytes so far, as far as the end mark needs it. */
function zerosAtEnd(chunk: Uint8Array, before: number): number {
  const last = chunk.findLastIndex((byte) => byte !== 0)
  return last < 0 ? Math.min(END_MARK_BYTES, before + chunk.length) : chunk.length - 1 - last
}
