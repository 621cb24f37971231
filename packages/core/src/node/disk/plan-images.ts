// Which image does the agent remove next, to keep the engine's disk from filling? Only images that the agent itself pulled
// are known here, and none that an assignment or a container uses is ever returned. See docs/design/disks.md#images

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Removal of old images begins at this use of the disk, and ends when it is down to the second. */
export const CLEAN_FROM_PERCENT = 75
export const CLEAN_TO_PERCENT = 70
/** Above this use, an image need not be old to be removed. */
export const URGENT_PERCENT = 85
const UNUSED_MS = 24 * HOUR_MS
/** An image that was just pulled is about to be used. */
const FRESH_MS = 10 * MINUTE_MS

/** An image that the agent pulled, with the times of its pull and of its last use. */
export interface PulledImage {
  readonly reference: string
  readonly pulledMs: number
  readonly usedMs: number
}

export interface ImageFacts {
  readonly nowMs: number
  readonly usedPercent: number
  /** Whether a clean-up is under way: it began at 75 % and continues to 70 %. */
  readonly isCleaning: boolean
  readonly pulled: Iterable<PulledImage>
  isUsed(reference: string): boolean
}

export const isCleaning = (wasCleaning: boolean, usedPercent: number): boolean =>
  usedPercent >= CLEAN_FROM_PERCENT || (wasCleaning && usedPercent > CLEAN_TO_PERCENT)

/** The image to remove next, the least recently used first; undefined: none. */
export function nextImage({ nowMs, usedPercent, pulled, ...facts }: ImageFacts): PulledImage | undefined {
  if (!facts.isCleaning) return undefined
  const isUrgent = usedPercent > URGENT_PERCENT
  const mayGo = ({ pulledMs, usedMs }: PulledImage): boolean =>
    nowMs - pulledMs >= FRESH_MS && (isUrgent || nowMs - usedMs >= UNUSED_MS)
  let next: PulledImage | undefined
  for (const image of pulled) {
    if (facts.isUsed(image.reference) || !mayGo(image)) continue
    if (next === undefined || isBefore(image, next)) next = image
  }
  return next
}

/** Images of the same age have an order, so that the choice does not depend on that of the list. */
const isBefore = (one: PulledImage, other: PulledImage): boolean =>
  one.usedMs === other.usedMs ? one.reference < other.reference : one.usedMs < other.usedMs
