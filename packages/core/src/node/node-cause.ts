// Decides whether a container could not be created for a cause of its node, so that another node may create it, or for one
// that it takes with it, such as its command. See docs/design/nodes-that-fail.md

/** A failed attempt to create or start a container, as the agent saw it. */
export interface FailedAttempt {
  /** The reason that the agent reports for the replica. */
  readonly reason: string
  /** The kind of the engine's error: `refused` if it rejected the request, `failed` if it tried and failed. */
  readonly fault: string
  /** The engine's error text. */
  readonly message: string
}

/** Errors that the image, the command or the limits of the container cause, although the engine reports them as its own. */
const OF_CONTAINER =
  /executable file not found|exec format error|exec: |unable to find (user|group)|no matching entries in (passwd|group)|OOM-killed|memory limit/i
/** Errors of the disk, which every other image would meet as well. */
const OF_DISK = /no space left on device|disk quota exceeded|read-only file system|input\/output error/i

export function isCauseOfNode({ reason, fault, message }: FailedAttempt): boolean {
  switch (reason) {
    // The agent sets up the network of the tenant; no deployment can change it.
    case 'network_failed':
      return true
    // A registry that refuses or does not answer would do so on other nodes, too.
    case 'image_pull_failed':
      return OF_DISK.test(message)
    case 'create_failed':
    case 'start_failed':
      return fault !== 'refused' && !OF_CONTAINER.test(message)
    default:
      return false
  }
}

/** The number of attempts in a row after which a container is created on another node. */
export const MOST_NODE_FAILURES = 3
