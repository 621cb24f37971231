// Repeats a write that failed, as on a full disk, until it succeeds. Until then the values are in memory only.

import { coalesce } from '../routing/coalesce.ts'

const RETRY_MS = 30_000

export interface Saver {
  /** Writes the newest value soon. Never throws. */
  save(): void
  /** Resolves after the write that is under way, whether it succeeded or not. */
  settled(): Promise<void>
  /** Ends the retries, after the write that is under way. */
  close(): Promise<void>
}

export interface SaverDeps {
  write(): Promise<void>
  /** Called once for each different failure in a row. */
  onFailed(error: unknown): void
  /** Called when a write succeeds after one that failed. */
  onSaved?(): void
  readonly retryMs?: number
}

export function createSaver({ write, onFailed, onSaved, retryMs = RETRY_MS }: SaverDeps): Saver {
  let failure: string | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let running = Promise.resolve()
  const attempt = coalesce(async () => {
    clearTimeout(timer)
    try {
      await write()
      if (failure !== undefined) onSaved?.()
      failure = undefined
    } catch (error) {
      if (failure !== String(error)) onFailed(error)
      failure = String(error)
      if (!isClosed) timer = setTimeout(save, retryMs).unref()
    }
  })
  const save = (): void => {
    running = attempt()
  }
  const settled = (): Promise<void> => running
  return {
    save,
    settled,
    close() {
      isClosed = true
      clearTimeout(timer)
      return settled()
    },
  }
}
