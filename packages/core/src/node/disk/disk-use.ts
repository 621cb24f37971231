// How full is a file system, when is a disk under pressure, and which change of it is worth a report?
// See docs/design/disks.md#reports

import type { DiskUse, NodeDisks } from '@holdfast/contract'

/** A node whose engine has a disk this full gets no new work, until it is down to the second. */
export const PRESSURE_FROM_PERCENT = 85
export const PRESSURE_TO_PERCENT = 80

/** The used part in percent, as `df` shows it: of bytes or of inodes, whichever is larger. */
export const usedPercent = ({ totalBytes, freeBytes, inodes, freeInodes }: DiskUse): number =>
  Math.max(share(totalBytes, freeBytes), share(inodes, freeInodes))

const share = (total: number, free: number): number =>
  total <= 0 ? 0 : Math.min(100, Math.max(0, (100 * (total - free)) / total))

export const isUnderPressure = (wasUnderPressure: boolean, percent: number): boolean =>
  percent >= PRESSURE_FROM_PERCENT || (wasUnderPressure && percent > PRESSURE_TO_PERCENT)

/** Whether the disks differ from those that were reported last by one percent, or by a limit of the pressure. */
export function isDiskNews(reported: NodeDisks | undefined, now: NodeDisks): boolean {
  if (reported === undefined || (reported.pool === undefined) !== (now.pool === undefined)) return true
  if (isOtherUse(reported.engine, now.engine)) return true
  return reported.pool !== undefined && now.pool !== undefined && isOtherUse(reported.pool, now.pool)
}

function isOtherUse(reported: DiskUse, now: DiskUse): boolean {
  if (reported.totalBytes !== now.totalBytes || reported.inodes !== now.inodes) return true
  const before = [share(reported.totalBytes, reported.freeBytes), share(reported.inodes, reported.freeInodes)]
  const after = [share(now.totalBytes, now.freeBytes), share(now.inodes, now.freeInodes)]
  return before.some((percent, at) => isOtherShare(percent, after[at] ?? 0))
}

const isOtherShare = (before: number, after: number): boolean =>
  Math.abs(before - after) >= 1 ||
  before >= PRESSURE_FROM_PERCENT !== after >= PRESSURE_FROM_PERCENT ||
  before > PRESSURE_TO_PERCENT !== after > PRESSURE_TO_PERCENT
