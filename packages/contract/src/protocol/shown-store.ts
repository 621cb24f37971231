// The store of the server, as complete sets show it: an agent recognises by it that the store was restored from a backup.

import { boolean, object, optional, string } from '../shapes/shape.ts'

export const shownStoreShape = object({
  epoch: string(),
  /** Until an operator has confirmed the epoch, an agent that knew another one removes nothing. */
  unconfirmed: optional(boolean()),
})
