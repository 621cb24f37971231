// Decides which member of etcd is defragmented next. A member answers nothing while it is defragmented, so one member at a
// time is, the leader last, and none while another member is unhealthy. See docs/design/upkeep.md

export interface StoreMember {
  readonly endpoint: string
  readonly fileBytes: number
  /** Bytes of the file that hold data. */
  readonly inUseBytes: number
  readonly leader: boolean
  readonly alarms: readonly string[]
}

export interface DefragmentationRules {
  /** Free part of a file, from 0 to 1, above which it is defragmented. */
  readonly freeShare: number
  /** A file below this size is not defragmented, unless etcd is filling up. */
  readonly minimumBytes: number
  readonly intervalMs: number
}

export interface DefragmentationFacts {
  /** The members that answered. */
  readonly members: readonly StoreMember[]
  /** Number of configured members. */
  readonly configured: number
  readonly quotaBytes: number
  /** Milliseconds since the member was last defragmented; undefined if this server does not know of it. */
  sinceMs(endpoint: string): number | undefined
}

/** `blocked`: a member is due, but the state of etcd forbids it. */
export type DefragmentationPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'blocked'; readonly why: 'member_silent' | 'no_leader' | 'alarm' }
  | { readonly kind: 'defragment'; readonly member: StoreMember }

export const NO_SPACE = 'NOSPACE'
/** Above this share of its quota, etcd is filling up, and less free space is reason enough. */
export const FILLING = 0.7
const FILLING_FREE_SHARE = 0.1
const FILLING_INTERVAL_MS = 60_000
/** Under NOSPACE every released page helps: etcd compares the whole file with its quota. */
export const RELEASABLE_BYTES = 64 * 1024
const FULL_INTERVAL_MS = 5_000

export function planDefragmentation(
  facts: DefragmentationFacts,
  rules: DefragmentationRules,
): DefragmentationPlan {
  const due = facts.members.filter((member) => isDue(member, facts, rules))
  if (due.length === 0) return { kind: 'none' }
  const why = obstacle(facts)
  if (why !== undefined) return { kind: 'blocked', why }
  const [member] = due.toSorted(
    (left, right) => Number(left.leader) - Number(right.leader) || freeBytes(right) - freeBytes(left),
  )
  return member === undefined ? { kind: 'none' } : { kind: 'defragment', member }
}

const freeBytes = ({ fileBytes, inUseBytes }: StoreMember): number => fileBytes - inUseBytes

function isDue(member: StoreMember, facts: DefragmentationFacts, rules: DefragmentationRules): boolean {
  const sinceMs = facts.sinceMs(member.endpoint) ?? Number.POSITIVE_INFINITY
  const freeShare = freeBytes(member) / Math.max(1, member.fileBytes)
  if (facts.members.some(({ alarms }) => alarms.includes(NO_SPACE)))
    return freeBytes(member) > RELEASABLE_BYTES && sinceMs >= Math.min(rules.intervalMs, FULL_INTERVAL_MS)
  if (member.fileBytes > facts.quotaBytes * FILLING)
    return freeShare > FILLING_FREE_SHARE && sinceMs >= Math.min(rules.intervalMs, FILLING_INTERVAL_MS)
  return freeShare > rules.freeShare && member.fileBytes >= rules.minimumBytes && sinceMs >= rules.intervalMs
}

function obstacle({
  members,
  configured,
}: DefragmentationFacts): 'member_silent' | 'no_leader' | 'alarm' | undefined {
  if (members.length < configured) return 'member_silent'
  if (members.filter(({ leader }) => leader).length !== 1) return 'no_leader'
  // A member with any other alarm, such as CORRUPT, is left as it is for the person who repairs it.
  return members.some(({ alarms }) => alarms.some((alarm) => alarm !== NO_SPACE)) ? 'alarm' : undefined
}
