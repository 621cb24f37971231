// The images of the engine: whether one is there, pulls and removals.

import { type Engine, EngineError, isFault, type PullCredential } from '../../ports/engine.ts'
import type { Caller } from './call.ts'
import { plainEngineText } from './classify-error.ts'
import { readImageId } from './decode.ts'
import { readJsonLines } from './read-lines.ts'

const READ_MS = 10_000
const REMOVE_MS = 60_000
const PULL_MS = 15 * 60_000
/** A pull without progress for this many milliseconds is aborted. */
const PULL_SILENCE_MS = 60_000

type ImageCalls = Pick<Engine, 'hasImage' | 'findImage' | 'pullImage' | 'removeImage'>

export const imageCalls = (caller: Caller): ImageCalls => ({
  hasImage: async (reference) => (await findImage(caller, reference)) !== undefined,
  findImage: (reference) => findImage(caller, reference),
  pullImage: (reference, credential) => pullImage(caller, reference, credential),
  removeImage: (reference) => removeImage(caller, reference),
})

async function findImage({ call }: Caller, reference: string): Promise<string | undefined> {
  try {
    return readImageId(await call(READ_MS, (docker) => docker.getImage(reference).inspect()))
  } catch (error) {
    if (isFault(error, 'not_found')) return undefined
    throw error
  }
}

/** Never by force: that would remove the image of a stopped container. */
async function removeImage({ call }: Caller, reference: string): Promise<'removed' | 'in_use'> {
  try {
    await call(REMOVE_MS, (docker, abortSignal) => docker.getImage(reference).remove({ abortSignal }))
  } catch (error) {
    if (isFault(error, 'conflict')) return 'in_use'
    if (!isFault(error, 'not_found')) throw error
  }
  return 'removed'
}

async function pullImage(
  { call }: Caller,
  reference: string,
  credential: PullCredential | undefined,
): Promise<void> {
  const at = reference.indexOf('@')
  const options = { fromImage: reference.slice(0, at), tag: reference.slice(at + 1) }
  const authconfig =
    credential === undefined
      ? {}
      : {
          authconfig: {
            username: credential.username,
            password: credential.password,
            serveraddress: credential.host,
          },
        }
  await call(PULL_MS, async (docker, signal) => {
    const stuck = new AbortController()
    const abortSignal = AbortSignal.any([signal, stuck.signal])
    await followPull(await docker.createImage({ ...options, ...authconfig, abortSignal }), stuck)
  })
}

/** Reads the progress of a pull. The engine answers 200 before the pull starts and reports a failure in the stream. */
async function followPull(stream: NodeJS.ReadableStream, stuck: AbortController): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const onProgress = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => stuck.abort(), PULL_SILENCE_MS)
  }
  try {
    onProgress()
    for await (const line of readJsonLines(stream)) {
      onProgress()
      if (typeof line === 'object' && line !== null && 'error' in line)
        throw new EngineError('failed', plainEngineText(String(line.error)))
    }
  } finally {
    clearTimeout(timer)
  }
}
