// One open stream of this node, as the table of streams knows it.

import type { StreamError } from '@holdfast/contract'

export interface StreamEnd {
  readonly exitCode?: number
  readonly error?: StreamError
}

export interface NodeStream {
  /** Something was sent: there may be room for more. */
  onRoom(): void
  /** A frame of the server's; `taken` is called when its bytes are held here no more. */
  input(channel: number, payload: Buffer, taken: () => void): void
  /** The server has enough, or is gone. */
  close(): void
}
