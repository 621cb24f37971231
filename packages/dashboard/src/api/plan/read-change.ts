// Which change the address of a plan page asks for. The address holds all of it, so a plan can be linked to.

const CHANGE_ACTS = ['restart', 'scale', 'rollback', 'delete', 'promote', 'abort'] as const
type ChangeAct = (typeof CHANGE_ACTS)[number]

export interface ChangeSearch {
  readonly act: ChangeAct
  /** For `scale`: the desired number. */
  readonly replicas?: number | undefined
  /** For `rollback`: the revision to store again. */
  readonly revision?: number | undefined
  /** For `promote`: although the observation has not ended. */
  readonly force?: boolean | undefined
}

/** Reads the search of an address; a word that is unknown becomes a restart, which is only planned. */
export function readChange(search: { readonly [name: string]: unknown }): ChangeSearch {
  const { replicas, revision, force } = search
  return {
    act: CHANGE_ACTS.find((act) => act === search.act) ?? 'restart',
    ...(isCount(replicas, 0) ? { replicas } : {}),
    ...(isCount(revision, 1) ? { revision } : {}),
    ...(force === true ? { force } : {}),
  }
}

const isCount = (value: unknown, least: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least
