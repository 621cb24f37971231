// The quotas that a person changed, from the texts of their fields. Bytes are typed in MiB or GiB.

import type { QuotaKind, QuotaList } from '@holdfast/contract'

export type Quota = QuotaList['items'][number]

export interface ChangedQuota {
  readonly kind: QuotaKind
  readonly used: number
  readonly from: number
  readonly to: number
}

interface Unit {
  readonly word: string
  readonly size: number
}

const UNITS: { readonly [kind: string]: Unit } = {
  stored_bytes: { word: 'MiB', size: 2 ** 20 },
  volume_bytes: { word: 'GiB', size: 2 ** 30 },
}

/** The unit in which the limit is typed; undefined for a number of records. */
export const unitOf = (kind: string): Unit | undefined => UNITS[kind]

/** The text of a limit in its field. */
export const limitText = ({ kind, limit }: Pick<Quota, 'kind' | 'limit'>): string =>
  String(limit / (unitOf(kind)?.size ?? 1))

/** Fields that are empty, not a number, or as before change nothing. */
export function changedQuotas(
  quotas: readonly Quota[],
  typed: { readonly [kind: string]: string },
): ChangedQuota[] {
  return quotas.flatMap((quota) => {
    const { kind, used, limit } = quota
    const text = typed[kind]?.trim() ?? ''
    const value = Number(text)
    if (text === '' || text === limitText(quota) || !Number.isFinite(value) || value < 0) return []
    const to = Math.round(value * (unitOf(kind)?.size ?? 1))
    return to === limit ? [] : [{ kind, used, from: limit, to }]
  })
}
