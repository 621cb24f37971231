// Judges etcd: the members that answer, the leader, alarms, and the size of the database.

import type { EngineStatus } from '../ports/key-value.ts'
import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'

export interface EtcdFacts {
  readonly endpoints: readonly string[]
  /** The statuses of the members that answered. */
  readonly statuses: Observed<readonly EngineStatus[]>
  readonly quotaBytes: number
}

type Judged = Omit<EtcdFacts, 'statuses'> & { readonly answered: readonly EngineStatus[] }

export function judgeEtcd(facts: EtcdFacts): readonly Finding[] {
  const { statuses, endpoints } = facts
  const answered = statuses.kind === 'seen' ? statuses.value : []
  if (answered.length > 0) {
    const judged = { ...facts, answered }
    return [judgeMembers(judged), judgeAlarms(judged), judgeSize(judged)]
  }
  const why = statuses.kind === 'seen' ? 'no member answered' : statuses.why
  const remedy = 'start etcd, then check etcd.endpoints and etcd.tls in the configuration'
  return [
    failure('etcd members', `none of ${endpoints.join(', ')} answers: ${why}`, remedy),
    couldNotObserve('etcd alarms', 'no member of etcd answers', remedy),
    couldNotObserve('etcd size', 'no member of etcd answers', remedy),
  ]
}

function judgeMembers({ endpoints, answered }: Judged): Finding {
  const check = 'etcd members'
  const silent = endpoints.filter((endpoint) => !answered.some((status) => status.endpoint === endpoint))
  const text = `${answered.length} of ${endpoints.length} ${endpoints.length === 1 ? 'member answers' : 'members answer'}`
  const remedy = `start ${silent.length === 0 ? 'etcd' : silent.join(' and ')} and read its log`
  if (answered.length * 2 <= endpoints.length)
    return failure(check, `${text}, and a majority is needed`, remedy)
  if (silent.length > 0) return warning(check, text, remedy)
  if (answered.some(({ leader }) => leader)) return ok(check, text)
  return failure(check, `${text}, but none is the leader`, 'check the network between the members of etcd')
}

const ALARM_REMEDIES: { readonly [alarm: string]: string } = {
  NOSPACE:
    'delete deployments or raise --quota-backend-bytes and etcd.quotaBytes together; the servers compact, defragment and clear the alarm themselves, unless etcd.defragmentation.enabled is false',
  CORRUPT: 'replace the member whose hash differs, as docs/guides/configuration.md describes',
}

function judgeAlarms({ answered }: Judged): Finding {
  const check = 'etcd alarms'
  const raised = [...new Set(answered.flatMap(({ alarms }) => alarms))]
  if (raised.length === 0) return ok(check, 'none')
  const remedies = raised.map((alarm) => ALARM_REMEDIES[alarm] ?? 'read the log of etcd')
  return failure(check, raised.join(', '), [...new Set(remedies)].join('; '))
}

/** Above this share the server rejects writes of the largest tenants. */
const SIZE_WARNING = 0.7
const SIZE_FAILURE = 0.9
const MIB = 1024 ** 2

function judgeSize({ answered, quotaBytes }: Judged): Finding {
  const check = 'etcd size'
  const size = Math.max(...answered.map(({ dbSizeBytes }) => dbSizeBytes))
  const share = size / quotaBytes
  const text = `${(size / MIB).toFixed(1)} MiB, ${Math.round(share * 100)} % of the quota`
  const remedy =
    'delete what is not needed, or raise --quota-backend-bytes of etcd and etcd.quotaBytes together; the servers defragment'
  if (share > SIZE_FAILURE) return failure(check, text, remedy)
  return share > SIZE_WARNING ? warning(check, text, remedy) : ok(check, text)
}
