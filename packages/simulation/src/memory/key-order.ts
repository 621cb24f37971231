// etcd orders keys by their UTF-8 bytes, which is the order of code points. JavaScript compares UTF-16 units, which sort
// surrogates below U+E000. The few affected keys are compared in a substitute form.

import type { KeyRange } from '@holdfast/server/ports/key-value'

const OUT_OF_ORDER = /[\ud800-\uffff]/
const EACH_OUT_OF_ORDER = /[\ud800-\uffff]/g

/** A form of the key whose UTF-16 units compare as the key's bytes do. */
export function orderOf(key: string): string {
  return OUT_OF_ORDER.test(key) ? key.replace(EACH_OUT_OF_ORDER, reorderUnit) : key
}

function reorderUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return String.fromCharCode(code >= 0xe000 ? code - 0x800 : code + 0x2000)
}

/** A range of keys in the substitute form that `orderOf` returns. Without `end`, the range is unbounded. */
export interface OrderRange {
  readonly from: string
  readonly to: string | undefined
}

/** Converts a range of keys. A range end of one zero byte means every key from the first on, as in etcd. */
export function orderRangeOf(key: string, rangeEnd: string): OrderRange {
  return { from: orderOf(key), to: rangeEnd === '\0' ? undefined : orderOf(rangeEnd) }
}

export function rangeTest({ key, rangeEnd }: KeyRange): (candidate: string) => boolean {
  if (rangeEnd === undefined) return (candidate) => candidate === key
  const { from, to } = orderRangeOf(key, rangeEnd)
  return (candidate) => {
    const order = orderOf(candidate)
    return order >= from && (to === undefined || order < to)
  }
}
