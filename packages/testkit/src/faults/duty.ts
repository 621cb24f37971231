// Makes an etcd cluster slow, as on an overloaded machine: each member process is paused half of the time, in a rhythm of
// its own. Once, all members are paused together for a long time.

import { setTimeout as pass } from 'node:timers/promises'
import type { EtcdCluster } from '@holdfast/testkit'

export interface DutyPlan {
  readonly cycles: number
  /** Time in milliseconds for which an etcd member is stopped in each cycle; afterwards it runs for the same time. */
  readonly halfMs: number
  /** Time in milliseconds for which all etcd members are stopped at once, after half of the cycles. */
  readonly allAtOnceMs: number
}

/** Slows the cluster down. Resolves when all planned stops are over and every member runs. */
export async function slowDown({ members }: EtcdCluster, plan: DutyPlan): Promise<void> {
  const { cycles, halfMs, allAtOnceMs } = plan
  const half = () =>
    Promise.all(
      members.map(async (member, index) => {
        await pass((index * halfMs) / members.length)
        for (let cycle = 0; cycle < cycles / 2; cycle += 1) {
          member.pause()
          await pass(halfMs)
          member.resume()
          await pass(halfMs)
        }
      }),
    )
  try {
    await half()
    for (const member of members) member.pause()
    await pass(allAtOnceMs)
    for (const member of members) member.resume()
    await half()
  } finally {
    for (const member of members) member.resume()
  }
}
