// How far apart two versions of Holdfast are. Servers and agents of neighboring minor versions work together.

interface Version {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

const VERSION = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+].*)?$/

function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch] = VERSION.exec(text) ?? []
  if (major === undefined || minor === undefined || patch === undefined) return undefined
  return { major: Number(major), minor: Number(minor), patch: Number(patch) }
}

/**
 * The number of minor versions by which `version` is older than `than`; negative if it is newer, infinite for another major
 * version. Undefined if one of them is no version. Pre-releases are not distinguished from their release.
 */
export function minorsBehind(version: string, than: string): number | undefined {
  const [left, right] = [parseVersion(version), parseVersion(than)]
  if (left === undefined || right === undefined) return undefined
  if (left.major !== right.major) return left.major < right.major ? Infinity : -Infinity
  return right.minor - left.minor
}

/** Whether `version` is older than `than`, also by a patch only. False if one of them is no version. */
export function isOlder(version: string, than: string): boolean {
  const minors = minorsBehind(version, than)
  if (minors === undefined || minors !== 0) return (minors ?? 0) > 0
  return (parseVersion(version)?.patch ?? 0) < (parseVersion(than)?.patch ?? 0)
}
