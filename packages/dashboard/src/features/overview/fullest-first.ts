// The quotas that a person looks for: those in use, the fullest first.

interface Quota {
  readonly kind: string
  readonly used: number
  readonly limit: number
}

const SHOWN = 6

const share = ({ used, limit }: Quota): number => (limit === 0 ? 1 : used / limit)

export function fullestFirst<Q extends Quota>(quotas: readonly Q[]): Q[] {
  return quotas
    .filter(({ used }) => used > 0)
    .sort((left, right) => share(right) - share(left))
    .slice(0, SHOWN)
}
