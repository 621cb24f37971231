// Judges the members of etcd and of the secrets store on all machines: which have a vote, which answer, and whether one of
// them may fail.

import type { EtcdMember } from '../ports/etcd-members.ts'
import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'

export interface EtcdMembersFacts {
  readonly members: Observed<readonly EtcdMember[]>
  /** The members that the configuration names. */
  readonly endpoints: readonly string[]
}

export interface StoreMemberFacts {
  readonly name: string
  readonly isVoter: boolean
  /** The member answers and is unsealed. */
  readonly serves: boolean
}

const JOIN_THIRD = 'join a third machine: docs/guides/three-machines.md'
const JOIN_AGAIN = 'run holdfast-server setup --join again on the machine'

export function judgeEtcdMembers({ members, endpoints }: EtcdMembersFacts): Finding {
  const check = 'etcd membership'
  if (members.kind === 'unobserved')
    return couldNotObserve(check, members.why, 'repair etcd first: a majority of its members must answer')
  const learners = members.value
    .filter(({ isLearner }) => isLearner)
    .map(({ name }) => name || 'a new member')
  const voters = members.value.length - learners.length
  const text = count(voters)
  if (learners.length > 0)
    return warning(check, `${text}; ${learners.join(', ')} has no vote yet`, JOIN_AGAIN)
  if (voters > endpoints.length)
    return warning(
      check,
      `${text}, and etcd.endpoints names ${endpoints.length}`,
      'run holdfast-server setup again on this machine, or add the other members to etcd.endpoints',
    )
  return voters === 2
    ? warning(check, `${text}: etcd stops if one of them fails`, JOIN_THIRD)
    : ok(check, text)
}

/** Without members, the store does not replicate its data itself. */
export function judgeStoreMembers(members: Observed<readonly StoreMemberFacts[]>): Finding {
  const check = 'secrets store members'
  if (members.kind === 'unobserved')
    return couldNotObserve(
      check,
      members.why,
      'unseal a majority of the members; if the policy is too old: holdfast-server init --operator-token-file FILE',
    )
  const voters = members.value.filter(({ isVoter }) => isVoter)
  const serving = voters.filter(({ serves }) => serves)
  const text = count(voters.length)
  const silent = members.value.filter(({ serves }) => !serves).map(({ name }) => name)
  const remedy = `start and unseal it on ${silent.join(' and ')}: holdfast-server setup with --unseal-key-file`
  if (silent.length > 0) {
    const found = `${text}; ${silent.join(', ')} does not answer or is sealed`
    return serving.length * 2 > voters.length ? warning(check, found, remedy) : failure(check, found, remedy)
  }
  const waiting = members.value.filter(({ isVoter }) => !isVoter).map(({ name }) => name)
  if (waiting.length > 0) return warning(check, `${text}; ${waiting.join(', ')} has no vote yet`, JOIN_AGAIN)
  return voters.length === 2
    ? warning(check, `${text}: the secrets store stops if one of them fails`, JOIN_THIRD)
    : ok(check, text)
}

const count = (voters: number): string => `${voters} ${voters === 1 ? 'member' : 'members'} with a vote`
