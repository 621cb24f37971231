// Decides which exit code of a job's container is known. An engine that restarts and does not find a container in
// containerd records an end that it did not see, with a placeholder as exit code. See docs/design/jobs.md#containers

/** Older engines record 0 for an end that they did not see, newer ones 255. Both are also exit codes of programs. */
const PLACEHOLDERS: readonly number[] = [0, 255]
/** An engine announces this exit code if it could not read the real one from containerd. */
const UNREAD = 255
/** Engines with this minor version of the API, or a later one, never record 0 as a placeholder. */
const ONLY_255_SINCE = 44

export interface EndFacts {
  /** The exit code in the engine's record of the container. */
  readonly recorded: number
  /** The exit code in the engine's `die` event; undefined if the engine has announced no end. */
  readonly announced: number | undefined
  /** Version of the engine's API, such as `1.41`. Needed only if no end was announced. */
  readonly apiVersion?: string
}

/** Whether an engine may have recorded the exit code without seeing the end. */
export const mayBePlaceholder = (recorded: number): boolean => PLACEHOLDERS.includes(recorded)

/** Returns the exit code of a container that runs once; undefined if no engine saw its end. */
export function deriveExit({ recorded, announced, apiVersion = '' }: EndFacts): number | undefined {
  if (!mayBePlaceholder(recorded) || announced === recorded) return recorded
  // An engine may be killed after it announced the end and before it recorded it, and then records a placeholder.
  if (announced !== undefined) return announced === UNREAD ? undefined : announced
  return recorded === 0 && minorOf(apiVersion) >= ONLY_255_SINCE ? recorded : undefined
}

const minorOf = (version: string): number => Number(/^1\.(\d+)$/.exec(version)?.[1] ?? Number.NaN)
